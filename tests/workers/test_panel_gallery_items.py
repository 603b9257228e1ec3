"""What of a suite goes into a gallery, and where regions lie."""

import numpy as np
import pytest
from PIL import Image

from evaluation.manifest import read_manifest
from evaluation.suites.demo.suite import build_demo
from evaluation.vocabulary import Family
from workers.demo.gallery_items import collect_items
from workers.demo.regions import find_crop, region_of


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "suite"
    build_demo(folder)
    return folder


def test_a_gallery_holds_each_piece_of_evidence_once_with_what_is_said_of_it(demo) -> None:
    spec = read_manifest(demo / "suite.json")
    items = collect_items(demo, spec)
    assert {item.kind for item in items.values()} == {"image", "volume", "text"}
    assert all(item.evidence.instruction == "" for item in items.values())
    assert all(not (item.evidence.images and item.evidence.text) for item in items.values())
    of_regions = [item for item in items.values() if item.spec.family is Family.REGION_GROUNDING and item.whole]
    assert of_regions
    assert all(item.label for item in of_regions)


def test_what_the_licence_does_not_allow_showing_stays_out(demo) -> None:
    import dataclasses

    spec = read_manifest(demo / "suite.json")
    hidden = [dataclasses.replace(task, images_may_be_shown=task.family is Family.TEXT_TO_TEXT) for task in spec.tasks]
    items = collect_items(demo, dataclasses.replace(spec, tasks=tuple(hidden)))
    assert items
    assert {item.kind for item in items.values()} == {"text"}


def test_every_region_of_the_demo_suite_is_found_in_its_image(demo) -> None:
    items = collect_items(demo, read_manifest(demo / "suite.json"))
    regions = [item for item in items.values() if item.whole and item.evidence.images]
    for item in regions[:12]:
        found = region_of(item.evidence.images[0], item.whole)
        assert found is not None
        (left, top, right, bottom), picture = found
        assert picture.startswith(b"\xff\xd8\xff")
        with Image.open(item.evidence.images[0]) as crop:
            assert (right - left, bottom - top) == crop.size  # the demo's images are small enough not to be reduced


@pytest.mark.parametrize("box", [(0, 0, 5, 4), (3, 2, 9, 9), (15, 11, 20, 16)])
def test_a_crop_is_found_where_it_was_cut(box) -> None:
    whole = np.random.default_rng(0).integers(0, 256, (16, 20, 3), dtype=np.uint8)
    left, top, right, bottom = box
    assert find_crop(whole[top:bottom, left:right], whole) == box


def test_what_was_not_cut_from_an_image_is_not_found_in_it() -> None:
    whole = np.random.default_rng(0).integers(0, 256, (16, 20, 3), dtype=np.uint8)
    other = whole[2:8, 2:8].copy()
    other[5, 5] += 1
    assert find_crop(other, whole) is None
    assert find_crop(whole, whole[:8]) is None
    # A match that begins within a pixel is none.
    flat = np.zeros((4, 4, 3), dtype=np.uint8)
    flat[0, 0] = (0, 0, 7)
    assert find_crop(np.array([[[0, 7, 0]]], dtype=np.uint8), flat) is None

"""What models are given of volumes: the whole, or the slice and window that the manifest names."""

from dataclasses import replace

import pytest

from evaluation.errors import SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.inputs import EmbeddingInput, Plane
from evaluation.probe_types import AnchorSet
from evaluation.suites.medtec.anchor_inputs import BLIND_IMAGES, anchor_input
from evaluation.suites.medtec.cell_tasks import cell_task
from evaluation.suites.medtec.input_numbers import InputNumbers
from evaluation.vocabulary import Level
from tests.evaluation.decoding.test_planes import write_volume
from tests.evaluation.probing import MODALITY, anchor, cell_spec, probe, probe_set, write_images


@pytest.fixture
def scan(tmp_path):
    write_volume(tmp_path / "scan.nii.gz")
    return anchor(tmp_path, 0, "scan.nii.gz", "ascites", slice_index=2, window="40/400")


def test_a_volume_whole_or_as_a_plane(tmp_path, scan):
    path = tmp_path / "scan.nii.gz"
    assert anchor_input(tmp_path, scan, takes_volumes=True) == EmbeddingInput(images=(path,), is_volume=True)
    plane = EmbeddingInput(images=(path,), plane=Plane(2, 40, 400))
    assert anchor_input(tmp_path, scan, takes_volumes=False) == plane


def test_a_plane_image_is_the_same_for_all_models(tmp_path):
    (path,) = write_images(tmp_path, 1)
    one = anchor(tmp_path, 0, path, "ascites")
    for takes_volumes in (True, False):
        assert anchor_input(tmp_path, one, takes_volumes=takes_volumes) == EmbeddingInput(images=(tmp_path / path,))


def test_a_folder_of_slices(tmp_path):
    paths = write_images(tmp_path, 3)
    one = anchor(tmp_path, 0, "images", "ascites", slice_index=1)
    whole = anchor_input(tmp_path, one, takes_volumes=True)
    assert whole == EmbeddingInput(images=tuple(tmp_path / path for path in paths), is_volume=True)
    assert anchor_input(tmp_path, one, takes_volumes=False) == EmbeddingInput(images=(tmp_path / paths[1],))
    with pytest.raises(SuiteInvalid, match="3 slices, so there is no slice 3"):
        anchor_input(tmp_path, replace(one, slice_index=3), takes_volumes=False)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"slice_index": None}, "no slice_index"), ({"window": ""}, "window ''"), ({"window": "soft"}, "window 'soft'")],
)
def test_a_volume_without_slice_or_window(tmp_path, scan, changes, message):
    with pytest.raises(SuiteInvalid, match=message):
        anchor_input(tmp_path, replace(scan, **changes), takes_volumes=False)


def test_a_dicom_series_has_no_plane(tmp_path):
    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "1.dcm").write_bytes(b"x")
    one = anchor(tmp_path, 0, "series", "ascites", slice_index=0)
    whole = EmbeddingInput(images=(tmp_path / "series",), is_volume=True)
    assert anchor_input(tmp_path, one, takes_volumes=True) == whole
    with pytest.raises(SuiteInvalid, match="Convert it to NIfTI"):
        anchor_input(tmp_path, one, takes_volumes=False)


def test_models_of_volumes_and_of_planes_are_measured_on_the_same_data(tmp_path, scan):
    probes = probe_set(Level.L4, [probe("ascites", "t", ["ascites"], ["gallstones"])])
    whole, plane = (
        cell_task(
            tmp_path,
            cell_spec(probes),
            anchor_set=AnchorSet("hand", MODALITY, (scan,), {}, "a" * 64),
            probe_set=probes,
            modality_sets=[probes],
            takes_volumes=takes_volumes,
            numbers=InputNumbers(FileHashes()),
        )
        for takes_volumes in (True, False)
    )
    assert whole.data_sha256 == plane.data_sha256
    assert whole.keys != plane.keys
    assert whole.inputs[whole.blind_images[0]] == EmbeddingInput(images=BLIND_IMAGES[:1], is_volume=True)
    assert plane.inputs[plane.blind_images[1]] == EmbeddingInput(images=BLIND_IMAGES[1:])

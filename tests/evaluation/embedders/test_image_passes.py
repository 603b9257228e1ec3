"""Of which sizes the passes of an image tower are, and which row belongs to which image."""

from collections.abc import Sequence

import numpy as np
import pytest
from PIL import Image

from evaluation.embedders.image_passes import ImagePasses
from evaluation.types import FloatMatrix


class _Tower:
    """Gives the red of an image's first pixel; `step` is what rounding adds for each image of the pass."""

    def __init__(self, step: float) -> None:
        self.step = step
        self.sizes: list[int] = []

    def __call__(self, images: Sequence[Image.Image]) -> FloatMatrix:
        self.sizes.append(len(images))
        red = [image.convert("RGB").tobytes()[0] for image in images]
        return np.float32(red)[:, np.newaxis] + np.float32(self.step * len(images))


def _reds(count: int) -> list[Image.Image]:
    return [Image.new("RGB", (3, 3), (value, 0, 0)) for value in range(1, count + 1)]


@pytest.mark.parametrize(
    ("count", "sizes"), [(1, [4]), (4, [4]), (5, [8]), (8, [8]), (9, [8, 4]), (13, [8, 8]), (20, [8, 8, 4])]
)
def test_a_last_pass_of_few_is_small_where_that_changes_no_bit(count: int, sizes: list[int]) -> None:
    tower = _Tower(step=0)
    passes = ImagePasses(tower)
    passes.rows(_reds(1))
    tower.sizes.clear()
    assert passes.rows(_reds(count))[:, 0].tolist() == list(range(1, count + 1))
    assert tower.sizes == sizes


@pytest.mark.parametrize(("count", "sizes"), [(1, [8]), (9, [8, 8]), (16, [8, 8])])
def test_every_pass_is_of_one_size_where_rounding_follows_the_size(count: int, sizes: list[int]) -> None:
    tower = _Tower(step=0.25)
    passes = ImagePasses(tower)
    passes.rows(_reds(1))
    tower.sizes.clear()
    assert passes.rows(_reds(count))[:, 0].tolist() == [value + 2.0 for value in range(1, count + 1)]
    assert tower.sizes == sizes


def test_sizes_are_tried_once_and_only_where_few_are_left() -> None:
    tower = _Tower(step=0)
    passes = ImagePasses(tower)
    passes.rows(_reds(8))
    assert tower.sizes == [8]
    passes.rows(_reds(2))
    assert tower.sizes == [8, 4, 4, 8, 4]
    passes.rows(_reds(2))
    assert tower.sizes == [8, 4, 4, 8, 4, 4]

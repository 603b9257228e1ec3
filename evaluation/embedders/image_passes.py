"""Images through a tower, so that the vector of each follows from it alone, bit for bit.

Rounding follows the shape of a pass, so every pass holds as many images, and the last is filled up with blank ones. A
last pass of few images is smaller where that gives this tower's images the same bits, which is tried once.
"""

from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image

from evaluation.types import FloatMatrix

IMAGES_A_PASS = 8
"""On a CPU as fast an image as larger passes."""
IMAGES_A_SMALL_PASS = 4
_SIDE = 64  # pixels of the images that are tried; a tower makes all of one shape

ImageFeatures = Callable[[Sequence[Image.Image]], FloatMatrix]


class ImagePasses:
    """Passes images through `image_features`, which gives one row an image and among equally many the same bits."""

    def __init__(self, image_features: ImageFeatures) -> None:
        self._image_features = image_features
        self._small_is_alike: bool | None = None

    def rows(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """One row an image, at least one; shape (len(images), dimension)."""
        parts = [images[start : start + IMAGES_A_PASS] for start in range(0, len(images), IMAGES_A_PASS)]
        rows: FloatMatrix = np.concatenate([self._pass(part) for part in parts])
        return rows

    def _pass(self, images: Sequence[Image.Image]) -> FloatMatrix:
        is_small = len(images) <= IMAGES_A_SMALL_PASS and self._is_small_alike()
        size = IMAGES_A_SMALL_PASS if is_small else IMAGES_A_PASS
        blanks = [Image.new("RGB", (_SIDE, _SIDE))] * (size - len(images))
        return self._image_features([*images, *blanks])[: len(images)]

    def _is_small_alike(self) -> bool:
        """Whether images have the same bits in small passes as in large ones: a matter of shapes, not of what they show."""
        if self._small_is_alike is None:
            images = _noise()
            half = IMAGES_A_SMALL_PASS
            small = np.concatenate([self._image_features(images[:half]), self._image_features(images[half:])])
            self._small_is_alike = small.tobytes() == self._image_features(images).tobytes()
        return self._small_is_alike


def _noise() -> list[Image.Image]:
    generator = np.random.default_rng(0)
    return [
        Image.fromarray(generator.integers(0, 256, (_SIDE, _SIDE, 3), dtype=np.uint8)) for _ in range(IMAGES_A_PASS)
    ]

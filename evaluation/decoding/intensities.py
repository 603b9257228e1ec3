"""From measured intensities to the 0..255 of an image."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

FloatArray = NDArray[np.float32]


def stretch(values: NDArray[np.generic], low: float, high: float) -> NDArray[np.uint8]:
    """Map `low`..`high` linearly to 0..255, cut off beyond, rounded; all 0 where the range is empty.

    Raises:
        ValueError: a value is not finite.
    """
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("it has intensities that are not finite numbers")
    if high <= low:
        return np.zeros(values.shape, dtype=np.uint8)
    return np.rint(np.clip((numbers - low) / (high - low), 0, 1) * 255).astype(np.uint8)


def grey_image(pixels: NDArray[np.uint8]) -> Image.Image:
    """An RGB image of a two-dimensional grey array."""
    return Image.fromarray(np.ascontiguousarray(pixels)).convert("RGB")

"""How CheXzero sees a radiograph.

Source: Tiu et al. 2022; https://github.com/rajpurkarlab/CheXzero, `data_process.py` and `zero_shot.py`, with the
torchvision 0.11 that it names: that one does not smooth before it makes arrays smaller.
"""

from collections.abc import Sequence

import numpy as np
import torch
from PIL import Image
from torch.nn import functional
from transformers import BatchFeature

_STORED_PIXELS = 320
_PIXELS = 224
_MEAN, _DEVIATION = np.float32(101.48761), np.float32(83.43944)


class ChexzeroProcessor:
    """Takes the place of a repository's image processor."""

    def __call__(self, *, images: Sequence[Image.Image], return_tensors: str) -> BatchFeature:
        """`pixel_values`, shape (len(images), 3, 224, 224)."""
        grey = torch.from_numpy(np.stack([_stored(image) for image in images])).unsqueeze(1)
        small = functional.interpolate(grey, size=(_PIXELS, _PIXELS), mode="bicubic", align_corners=False)
        return BatchFeature({"pixel_values": small.expand(-1, 3, -1, -1)}, tensor_type=return_tensors)


def _stored(image: Image.Image) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The picture within 320 x 320, black around it, grey, standardised on 0..255."""
    ratio = _STORED_PIXELS / max(image.size)
    width, height = (max(1, int(side * ratio)) for side in image.size)
    resized = image.resize((width, height), Image.Resampling.LANCZOS).convert("L")
    square = Image.new("L", (_STORED_PIXELS, _STORED_PIXELS))
    square.paste(resized, ((_STORED_PIXELS - width) // 2, (_STORED_PIXELS - height) // 2))
    return (np.asarray(square, dtype=np.float32) - _MEAN) / _DEVIATION

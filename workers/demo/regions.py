"""Finds where a crop lies in the image that it was cut from."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.decoding.inputs import decode
from evaluation.inputs import EmbeddingInput
from workers.pictures import jpeg

Box = tuple[int, int, int, int]
WHOLE_PIXELS = 384
_BYTES_A_PIXEL = 3


def find_crop(crop: NDArray[np.uint8], whole: NDArray[np.uint8]) -> Box | None:
    """The first place, from the top left, where `crop` stands in `whole` to the pixel; both (height, width, 3).

    Left and top, and right and bottom beyond it, in pixels of `whole`; None where it stands nowhere.
    """
    height, width = crop.shape[:2]
    rows = whole.shape[0] - height + 1
    if rows < 1 or whole.shape[1] < width:
        return None
    wanted = crop[0].tobytes()
    for top in range(rows):
        line = whole[top].tobytes()
        at = line.find(wanted)
        while at >= 0:
            left, rest = divmod(at, _BYTES_A_PIXEL)
            if rest == 0 and np.array_equal(whole[top : top + height, left : left + width], crop):
                return left, top, left + width, top + height
            at = line.find(wanted, at + 1)
    return None


def region_of(crop: Path, whole: Path) -> tuple[Box, bytes] | None:
    """Where a crop lies, in pixels of a reduced JPEG of the whole image, and that JPEG; None where it lies nowhere.

    Raises:
        InputUnreadable: an image cannot be read.
    """
    cut, image = (decode(EmbeddingInput(images=(path,))).images[0] for path in (crop, whole))
    box = find_crop(np.asarray(cut), np.asarray(image))
    if box is None:
        return None
    scale = min(1.0, WHOLE_PIXELS / max(image.size))
    reduced = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))
    left, top, right, bottom = (round(edge * scale) for edge in box)
    return (left, top, max(right, left + 1), max(bottom, top + 1)), jpeg(reduced)

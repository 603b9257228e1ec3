"""What a sealed decoder hands back, checked: it may be anything, since a file may have taken the decoder over."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.decoding.volumes import Volume
from evaluation.inputs import MAX_VOLUME_SLICES
from workers.demo.limits import MAX_PIXELS, MAX_REFUSAL_CHARACTERS
from workers.demo.refusals import PanelRefusal

_MAX_HEADER_BYTES = 16 * 1024
_AXES = 3


class PicturesInvalid(Exception):
    """An answer does not have the agreed form, or ends too early; the text says where."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What files show: RGB images in reading order, those of a volume its slices; `volume` has its measured values."""

    images: tuple[Image.Image, ...]
    is_volume: bool
    volume: Volume | None = None


def read_pictures(stream: IO[bytes]) -> Pictures:
    """An answer of `workers.demo.upload_decoder`.

    Raises:
        PicturesInvalid: it is none.
        PanelRefusal: it is a sentence why the files cannot be read.
    """
    header = _header(stream.readline(_MAX_HEADER_BYTES))
    if "refused" in header:
        raise PanelRefusal(_sentence(header["refused"]))
    if set(header) != {"is_volume", "images", "volume"} or not isinstance(header["is_volume"], bool):
        raise PicturesInvalid("the header has other fields")
    shapes = _shapes(header["images"])
    grid = None if header["volume"] is None else _grid(header["volume"])
    images = tuple(Image.fromarray(_array(stream, (*shape, 3), np.dtype(np.uint8))) for shape in shapes)
    volume = None if grid is None else Volume(_finite(_array(stream, grid[0], np.dtype("<f4"))), grid[1])
    return Pictures(images, header["is_volume"], volume)


def _header(line: bytes) -> Mapping[str, Any]:
    if not line.endswith(b"\n"):
        raise PicturesInvalid("the header has no end")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PicturesInvalid("the header is no JSON") from error
    if not isinstance(header, dict):
        raise PicturesInvalid("the header is no object")
    return header


def _sentence(refused: object) -> str:
    """A sentence for the visitor: what can be printed of it."""
    if not isinstance(refused, str) or not 0 < len(refused) <= MAX_REFUSAL_CHARACTERS:
        raise PicturesInvalid("a refusal has no words, or too many")
    return "".join(letter if letter.isprintable() else " " for letter in refused)


def _shapes(shapes: object) -> list[tuple[int, int]]:
    if not isinstance(shapes, list) or not 1 <= len(shapes) <= MAX_VOLUME_SLICES:
        raise PicturesInvalid("the number of images is out of range")
    checked = [_extents(shape, 2) for shape in shapes]
    if sum(height * width for height, width in checked) > MAX_PIXELS:
        raise PicturesInvalid("there are too many pixels")
    return [(height, width) for height, width in checked]


def _grid(volume: object) -> tuple[tuple[int, ...], tuple[float, float, float]]:
    if not isinstance(volume, dict) or set(volume) != {"shape", "spacing"}:
        raise PicturesInvalid("a volume has a shape and a spacing")
    shape = _extents(volume["shape"], _AXES)
    if math.prod(shape) > MAX_PIXELS:
        raise PicturesInvalid("there are too many voxels")
    spacing = volume["spacing"]
    if not isinstance(spacing, list) or len(spacing) != _AXES or not all(_is_length(size) for size in spacing):
        raise PicturesInvalid("the size of a voxel is three lengths")
    return shape, (spacing[0], spacing[1], spacing[2])


def _is_length(size: object) -> bool:
    return type(size) is float and math.isfinite(size) and size > 0


def _extents(shape: object, axes: int) -> tuple[int, ...]:
    if (
        not isinstance(shape, list)
        or len(shape) != axes
        or not all(type(extent) is int and extent > 0 for extent in shape)
    ):
        raise PicturesInvalid(f"a shape is {axes} whole numbers above 0")
    return tuple(shape)


def _array(stream: IO[bytes], shape: Sequence[int], kind: np.dtype[Any]) -> NDArray[Any]:
    size = math.prod(shape) * kind.itemsize
    content = stream.read(size)
    if len(content) != size:
        raise PicturesInvalid("the pixels end too early")
    return np.frombuffer(content, dtype=kind).reshape(shape)


def _finite(values: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(values).all():
        raise PicturesInvalid("a measured value is not finite")
    return values

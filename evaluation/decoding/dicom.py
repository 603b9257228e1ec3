"""DICOM files and series."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
from numpy.typing import NDArray
from PIL import Image
from pydicom.pixels import apply_color_lut, apply_modality_lut, apply_voi

from evaluation.decoding.faults import faults_of
from evaluation.decoding.intensities import grey_image, stretch
from evaluation.decoding.rasters import require_pixels
from evaluation.decoding.sampling import even_positions, sample_evenly
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import MAX_VOLUME_SLICES, MAX_VOLUME_VOXELS

_PREAMBLE_LENGTH = 128
_MARK = b"DICM"


@dataclass(frozen=True, slots=True)
class _Grey:
    """Grey frames (n, height, width) in the units of the modality, and how to show them."""

    values: NDArray[Any]
    window: tuple[float, float, str] | None
    inverted: bool


def is_dicom(path: Path) -> bool:
    """Whether the file carries the DICOM mark after its preamble."""
    with path.open("rb") as stream:
        return stream.read(_PREAMBLE_LENGTH + len(_MARK))[_PREAMBLE_LENGTH:] == _MARK


def read_dicom(path: Path) -> tuple[Image.Image, ...]:
    """The frames of one DICOM file as RGB images, sampled to at most `MAX_VOLUME_SLICES`.

    Grey values pass the modality transform (rescale), then the first window of the file, by the function that it names
    (PS3.3 C.11.2.1); without a window, the first VOI table if there is one, and minimum..maximum of the sampled frames.
    MONOCHROME1 is inverted, so that high means bright. Windows inside functional groups of enhanced objects are not used.

    Raises:
        InputUnreadable: no pixels in the file.
        InputTooLarge: a frame beyond the pixel limit.
        Exception: whatever the decoder raises on a damaged file; the caller translates it.
    """
    content = _read_frames(path)
    return _show([content]) if isinstance(content, _Grey) else content


def read_series(paths: Sequence[Path]) -> tuple[Image.Image, ...]:
    """The slices of one DICOM series in order of position, sampled to at most `MAX_VOLUME_SLICES`.

    The order is that of ImagePositionPatient along the slice normal; where a file lacks position or orientation, that
    of InstanceNumber. It is shown as `read_slices` does.

    Raises:
        InputUnreadable: a file is damaged, the files are of several series, or they cannot be ordered.
    """
    headers = [_read_header(path) for path in paths]
    if len({header.get("SeriesInstanceUID") for header in headers}) > 1:
        raise InputUnreadable(f"{paths[0].parent} holds files of several DICOM series; keep one.")
    return read_slices(sample_evenly(_in_order(paths, headers), MAX_VOLUME_SLICES))


def read_slices(paths: Sequence[Path]) -> tuple[Image.Image, ...]:
    """The frames of several DICOM files of one volume, in the order given.

    Files without a window are shown from the minimum to the maximum of all of them together.

    Raises:
        InputUnreadable: a file is damaged, or grey and colour are mixed.
        InputTooLarge: a frame beyond the pixel limit.
    """
    contents = []
    for path in paths:
        with faults_of(path):
            contents.append(_read_frames(path))
    greys = [content for content in contents if isinstance(content, _Grey)]
    colours = [image for content in contents if not isinstance(content, _Grey) for image in content]
    if greys and colours:
        raise InputUnreadable(f"{paths[0].parent} mixes grey and colour files in one volume; keep one kind.")
    return _show(greys) if greys else tuple(colours)


def _read_header(path: Path) -> Any:
    with faults_of(path):
        if not is_dicom(path):
            raise InputUnreadable(f"{path} is not a DICOM file; keep only the files of one series in its folder.")
        return pydicom.dcmread(path, stop_before_pixels=True)


def _in_order(paths: Sequence[Path], headers: Sequence[Any]) -> list[Path]:
    keys = [_position(header) for header in headers]
    if any(key is None for key in keys):
        keys = [_instance(header) for header in headers]
    if any(key is None for key in keys) or len(set(keys)) < len(keys):
        folder = paths[0].parent
        raise InputUnreadable(f"{folder} cannot be ordered: slices lack a distinct position and InstanceNumber.")
    placed = {path: key for path, key in zip(paths, keys, strict=True) if key is not None}
    return sorted(placed, key=lambda path: placed[path])


def _position(header: Any) -> float | None:
    """The distance of a slice along its normal, in mm."""
    position, axes = header.get("ImagePositionPatient"), header.get("ImageOrientationPatient")
    if not position or not axes:
        return None
    directions = np.array(axes, dtype=np.float64)
    normal = np.cross(directions[:3], directions[3:])
    return float(np.dot(normal, np.array(position, dtype=np.float64)))


def _instance(header: Any) -> float | None:
    number = header.get("InstanceNumber")
    return None if number is None else float(number)


def _read_frames(path: Path) -> _Grey | tuple[Image.Image, ...]:
    dataset = pydicom.dcmread(path)
    if "PixelData" not in dataset:
        raise InputUnreadable(f"{path} has no pixels; give image objects only.")
    columns, rows, count = int(dataset.Columns), int(dataset.Rows), int(dataset.get("NumberOfFrames") or 1)
    require_pixels(path, columns, rows)
    if columns * rows * count > MAX_VOLUME_VOXELS:
        raise InputTooLarge(f"{path} has {count} frames; at most {MAX_VOLUME_VOXELS:,} pixels in all are read.")
    pixels = dataset.pixel_array if count > 1 else dataset.pixel_array[np.newaxis]
    frames = pixels[even_positions(len(pixels), MAX_VOLUME_SLICES)]
    if dataset.PhotometricInterpretation == "PALETTE COLOR":
        return _colour_images(apply_color_lut(frames, dataset))
    if dataset.SamplesPerPixel > 1:
        return _colour_images(_to_bytes(frames, int(dataset.BitsStored)))
    values = apply_modality_lut(frames, dataset)
    window = _window(dataset)
    if window is None and "VOILUTSequence" in dataset:
        values = apply_voi(np.rint(values).astype(np.int64), dataset, index=0)
    return _Grey(values, window, dataset.PhotometricInterpretation == "MONOCHROME1")


def _to_bytes(frames: NDArray[Any], bits: int) -> NDArray[Any]:
    return frames if frames.dtype == np.uint8 else stretch(frames, 0, 2**bits - 1)


def _colour_images(frames: NDArray[Any]) -> tuple[Image.Image, ...]:
    full = 2 ** (8 * frames.dtype.itemsize) - 1
    pixels = frames if frames.dtype == np.uint8 else stretch(frames, 0, full)
    return tuple(Image.fromarray(np.ascontiguousarray(frame)).convert("RGB") for frame in pixels)


def _window(dataset: Any) -> tuple[float, float, str] | None:
    """Centre, width and function of the first window."""
    centre, width = _first(dataset.get("WindowCenter")), _first(dataset.get("WindowWidth"))
    if centre is None or width is None:
        return None
    return centre, width, str(dataset.get("VOILUTFunction") or "LINEAR")


def _first(value: Any) -> float | None:
    if value is None or value == "":
        return None
    return float(value[0]) if isinstance(value, pydicom.multival.MultiValue) else float(value)


def _show(greys: Sequence[_Grey]) -> tuple[Image.Image, ...]:
    unwindowed = [grey.values for grey in greys if grey.window is None]
    low = min((float(values.min()) for values in unwindowed), default=0.0)
    high = max((float(values.max()) for values in unwindowed), default=0.0)
    images = []
    for grey in greys:
        pixels = stretch(grey.values, low, high) if grey.window is None else _windowed(grey.values, *grey.window)
        images += [grey_image(255 - frame if grey.inverted else frame) for frame in pixels]
    return tuple(images)


def _windowed(values: NDArray[Any], centre: float, width: float, function: str) -> NDArray[np.uint8]:
    """The VOI functions of PS3.3 C.11.2.1.2 and C.11.2.1.3 onto 0..255."""
    smallest = 1 if function == "LINEAR" else np.nextafter(0, 1)
    if width < smallest:
        raise ValueError(f"its window width {width} is too small for the function {function}")
    if function == "SIGMOID":
        return stretch(1 / (1 + np.exp(-4 * (values - centre) / width)), 0, 1)
    if function == "LINEAR_EXACT":
        return stretch(values, centre - width / 2, centre + width / 2)
    if function != "LINEAR":
        raise ValueError(f"its VOILUTFunction {function!r} is not one of the standard's")
    if width == 1:
        return np.where(values > centre - 0.5, 255, 0).astype(np.uint8)
    return stretch(values, centre - 0.5 - (width - 1) / 2, centre - 0.5 + (width - 1) / 2)

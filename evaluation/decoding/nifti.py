"""NIfTI volumes."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.decoding.intensities import grey_image, stretch
from evaluation.decoding.rasters import require_pixels
from evaluation.decoding.sampling import even_positions
from evaluation.decoding.volumes import Volume, canonical_volume
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import MAX_VOLUME_SLICES, MAX_VOLUME_VOXELS, Plane

_LOW_PERCENTILE, _HIGH_PERCENTILE = 1, 99
_SPATIAL_AXES = 3


def is_nifti(path: Path) -> bool:
    """Whether the name says NIfTI; the format has no mark that survives compression."""
    return path.name.lower().endswith((".nii", ".nii.gz"))


def read_nifti(path: Path) -> tuple[Image.Image, ...]:
    """Axial slices from feet to head, sampled to at most `MAX_VOLUME_SLICES`.

    The array is turned to its closest canonical orientation (right, anterior, superior) and each slice is shown as
    radiologists do: the patient's front is up and their right is on the left. Intensities between the 1st and the 99th
    percentile of the sampled slices are mapped linearly to 0..255; where these two are equal, minimum..maximum are.

    Raises:
        InputTooLarge: more than `MAX_VOLUME_VOXELS` voxels, or a slice beyond the pixel limit.
        InputUnreadable: not one three-dimensional volume of real numbers.
        Exception: whatever the decoder raises on a damaged file; the caller translates it.
    """
    stored = _read_stored(path)
    canonical = stored.canonical(path)
    sampled = canonical[:, :, even_positions(canonical.shape[2], MAX_VOLUME_SLICES)]
    return _axial_images(stored.measured(sampled))


def read_nifti_plane(path: Path, plane: Plane) -> Image.Image:
    """One axial slice, turned as by `read_nifti`, its window mapped linearly to 0..255 and cut off beyond.

    Raises:
        InputTooLarge, InputUnreadable: as by `read_nifti`, or the volume has no such slice, or the window no width.
        Exception: whatever the decoder raises on a damaged file; the caller translates it.
    """
    stored = _read_stored(path)
    canonical = stored.canonical(path)
    if not 0 <= plane.slice_index < canonical.shape[2]:
        raise InputUnreadable(f"{path} has {canonical.shape[2]} slices, so there is no slice {plane.slice_index}.")
    if plane.width <= 0:
        raise InputUnreadable(f"{path}: a window of width {plane.width} shows nothing.")
    values = stored.measured(canonical[::-1, ::-1, plane.slice_index])
    half = plane.width / 2
    return grey_image(stretch(values, plane.level - half, plane.level + half).T)


def read_nifti_volume(path: Path) -> Volume:
    """The whole volume with its scaled intensities and the size of its voxels.

    Raises:
        InputTooLarge: more than `MAX_VOLUME_VOXELS` voxels.
        InputUnreadable: not one three-dimensional volume of finite real numbers with a voxel size.
        Exception: whatever the decoder raises on a damaged file; the caller translates it.
    """
    stored = _read_stored(path)
    return canonical_volume(path, stored.measured(stored.values), stored.affine)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The array as the file holds it; `slope * value + intercept` is what was measured."""

    values: NDArray[Any]
    slope: float
    intercept: float
    affine: NDArray[np.float64]

    def canonical(self, path: Path) -> NDArray[Any]:
        """The array turned to its closest canonical orientation, for showing its axial slices."""
        turned: NDArray[Any] = nibabel.apply_orientation(self.values, nibabel.io_orientation(self.affine))
        require_pixels(path, turned.shape[0], turned.shape[1])
        return turned

    def measured(self, values: NDArray[Any]) -> NDArray[np.float32]:
        scaled: NDArray[np.float32] = values.astype(np.float32) * self.slope + self.intercept
        return scaled


def _read_stored(path: Path) -> _Stored:
    volume: Any = nibabel.load(path)
    shape = tuple(int(extent) for extent in volume.shape)
    if len(shape) < _SPATIAL_AXES or any(extent != 1 for extent in shape[_SPATIAL_AXES:]) or 0 in shape:
        raise InputUnreadable(f"{path} has the shape {shape}; one volume with three axes is needed.")
    if int(np.prod(shape, dtype=np.int64)) > MAX_VOLUME_VOXELS:
        raise InputTooLarge(f"{path} has the shape {shape}; at most {MAX_VOLUME_VOXELS:,} voxels are read.")
    stored = np.asanyarray(volume.dataobj.get_unscaled())
    if stored.dtype.kind not in "iuf":
        raise InputUnreadable(f"{path} holds values of type {stored.dtype}; real numbers are needed.")
    slope, intercept = float(volume.dataobj.slope), float(volume.dataobj.inter)
    return _Stored(stored.reshape(shape[:_SPATIAL_AXES]), slope, intercept, volume.affine)


def _axial_images(values: NDArray[Any]) -> tuple[Image.Image, ...]:
    low, high = np.percentile(values, (_LOW_PERCENTILE, _HIGH_PERCENTILE))
    if high <= low:
        low, high = values.min(), values.max()
    pixels = stretch(values[::-1, ::-1, :], float(low), float(high))
    return tuple(grey_image(pixels[:, :, position].T) for position in range(pixels.shape[2]))

"""A volume with its geometry, for models that see all of it: measured intensities on a grid in millimetres."""

from dataclasses import dataclass
from pathlib import Path

import nibabel
import numpy as np
from nibabel.affines import voxel_sizes
from numpy.typing import NDArray

from evaluation.errors import InputUnreadable

FloatGrid = NDArray[np.float32]
Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Volume:
    """Intensities in the units of the modality (Hounsfield for CT), float32, and the size of a voxel in mm.

    The axes of `values` run to the patient's right, front (anterior) and head (superior), as far as they can without
    interpolation: a tilted scan keeps its tilt.
    """

    values: FloatGrid
    spacing: Triple


def canonical_volume(path: Path, values: FloatGrid, affine: NDArray[np.float64]) -> Volume:
    """Values on a grid whose `affine` leads to mm (right, front, head), with their axes turned to these directions.

    Raises:
        InputUnreadable: a voxel has no size, axes do not span the body, or an intensity is not finite.
    """
    sizes = voxel_sizes(affine)
    orientation = nibabel.io_orientation(affine) if np.isfinite(affine).all() and sizes.all() else None
    if orientation is None or np.isnan(orientation).any():
        raise InputUnreadable(f"{path} has voxels of {sizes.tolist()} mm; export it with its spacing and directions.")
    if not np.isfinite(values).all():
        raise InputUnreadable(f"{path} has intensities that are not finite numbers; export it again.")
    x, y, z = (float(sizes[int(np.flatnonzero(orientation[:, 0] == axis)[0])]) for axis in range(3))
    return Volume(nibabel.apply_orientation(values, orientation), (x, y, z))

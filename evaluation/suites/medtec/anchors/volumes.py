"""Which slice of a volume stands for it where a model takes plane images, and in which window it is shown."""

from pathlib import Path
from typing import Any

import nibabel
import numpy as np
from nibabel.filebasedimages import ImageFileError

from evaluation.errors import InputUnreadable

SOFT_TISSUE = "40/400"
"""Level and width in Hounsfield units."""

_AXES = 3


def middle_slice(file: Path) -> int:
    """The number of the middle axial slice of a NIfTI file, counted from the feet in its closest canonical orientation.

    Raises:
        InputUnreadable: the file is no NIfTI volume.
    """
    try:
        volume: Any = nibabel.load(file)
        orientation = nibabel.io_orientation(volume.affine)
        shape = volume.shape
    except (OSError, EOFError, ValueError, ImageFileError) as error:
        raise InputUnreadable(f"{file} is no NIfTI volume: {error}. Fetch it again.") from error
    if len(shape) < _AXES:
        raise InputUnreadable(f"{file} has the shape {shape}; a volume with three axes is needed.")
    axis = int(np.flatnonzero(orientation[:, 0] == _AXES - 1)[0])
    return int(shape[axis]) // 2

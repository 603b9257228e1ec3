"""MR volumes of the hippocampus with labels of its anterior (1) and posterior (2) part, as NIfTI."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import DataMissing, SuiteInvalid

FOLDER = "open/mri_hippocampus_3d"
DATASET = "Hippocampus"
IMAGE_ROOT = f"3D_Images/{DATASET}"
LICENCE = "CC BY-SA 4.0"


@dataclass(frozen=True, slots=True)
class HippocampusVolume:
    """One volume: grey levels (right-left, back-front, foot-head), and the size of both parts in cubic millimetres."""

    patient: str
    grey: NDArray[np.uint8]
    anterior: float
    posterior: float

    @property
    def size(self) -> float:
        """Cubic millimetres of both parts."""
        return self.anterior + self.posterior


def read_hippocampus(raw: Path) -> list[HippocampusVolume]:
    """All volumes in order of name, grey levels scaled between the 1st and 99th percentile of each."""
    files = sorted((raw / FOLDER / "images").glob("*.nii.gz"))
    if not files:
        raise DataMissing(f"{raw / FOLDER / 'images'} holds no NIfTI volumes; put the publisher's volumes there")
    return [_read(file) for file in files]


def _read(file: Path) -> HippocampusVolume:
    import nibabel  # noqa: PLC0415 -- slow to import, needed here only

    image = nibabel.as_closest_canonical(nibabel.load(file))
    labels = nibabel.as_closest_canonical(nibabel.load(file.parent.parent / "labels" / file.name))
    values = np.asarray(image.dataobj, dtype=np.float64)
    parts = np.asarray(labels.dataobj)
    if values.shape != parts.shape:
        raise SuiteInvalid(f"{file}: the image is {values.shape} and its labels {parts.shape}; they must be alike")
    voxel = float(np.prod(image.header.get_zooms()[:3]))
    low, high = np.percentile(values, (1, 99))
    grey = np.round(np.clip((values - low) / max(high - low, 1e-9), 0, 1) * 255).astype(np.uint8)
    name = file.name.removesuffix(".nii.gz")
    return HippocampusVolume(name, grey, float((parts == 1).sum()) * voxel, float((parts == 2).sum()) * voxel)  # noqa: PLR2004 -- the label of the posterior part

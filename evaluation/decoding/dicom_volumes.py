"""A DICOM series as a volume with its geometry, for models that see all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pydicom
from numpy.typing import NDArray
from pydicom.pixels import apply_modality_lut

from evaluation.decoding.dicom import is_dicom
from evaluation.decoding.faults import faults_of
from evaluation.decoding.volumes import FloatGrid, Volume, canonical_volume
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import MAX_VOLUME_VOXELS

_LARGEST_GAP_DIFFERENCE = 0.1  # of the usual gap between slices: more means that a slice is missing
_SAME_DIRECTION = 1e-3
_GRID_TAGS = ("ImagePositionPatient", "ImageOrientationPatient", "PixelSpacing")


@dataclass(frozen=True, slots=True)
class _Slice:
    """Where one slice lies: `position` of its first pixel in mm (left, back, head) and the directions of its axes."""

    path: Path
    shape: tuple[int, int]
    position: NDArray[np.float64]
    along_row: NDArray[np.float64]
    along_column: NDArray[np.float64]
    spacing: tuple[float, float]

    @property
    def normal(self) -> NDArray[np.float64]:
        return np.cross(self.along_row, self.along_column)

    @property
    def depth(self) -> float:
        return float(self.position @ self.normal)


def read_series_volume(paths: Sequence[Path]) -> Volume:
    """All slices of one DICOM series, in the units of the modality transform (Hounsfield for CT).

    Raises:
        InputUnreadable: a file is damaged, in colour or of several frames, the files are of several series or grids,
            they do not say where they lie, two lie in one place, or slices are missing between them.
        InputTooLarge: more than `MAX_VOLUME_VOXELS` voxels.
    """
    folder = paths[0].parent
    slices = sorted(_read_positions(paths), key=lambda entry: entry.depth)
    _require_one_grid(folder, slices)
    gap = _even_gap(folder, [entry.depth for entry in slices])
    rows, columns = slices[0].shape
    if rows * columns * len(slices) > MAX_VOLUME_VOXELS:
        raise InputTooLarge(f"{folder} has {len(slices)} slices; at most {MAX_VOLUME_VOXELS:,} voxels are read.")
    values = np.empty((columns, rows, len(slices)), dtype=np.float32)
    for number, entry in enumerate(slices):
        values[:, :, number] = _measured(entry.path).T
    first = slices[0]
    directions = np.stack(
        [first.along_row * first.spacing[1], first.along_column * first.spacing[0], first.normal * gap], axis=1
    )
    affine = np.eye(4)
    affine[:3, :3] = np.diag([-1, -1, 1]) @ directions  # DICOM counts to the left and back, a `Volume` right and front
    return canonical_volume(folder, values, affine)


def _read_positions(paths: Sequence[Path]) -> list[_Slice]:
    slices, series = [], set()
    for path in paths:
        with faults_of(path):
            if not is_dicom(path):
                raise InputUnreadable(f"{path} is not a DICOM file; keep only the files of one series together.")
            header = pydicom.dcmread(path, stop_before_pixels=True)
            slices.append(_position(path, header))
            series.add(header.get("SeriesInstanceUID"))
    if len(series) > 1:
        raise InputUnreadable(f"{paths[0].parent} holds files of several DICOM series; keep one.")
    return slices


def _position(path: Path, header: Any) -> _Slice:
    missing = [tag for tag in _GRID_TAGS if not header.get(tag)]
    if missing or int(header.get("NumberOfFrames") or 1) > 1:
        reason = f"has no {', '.join(missing)}" if missing else "holds several frames"
        raise InputUnreadable(f"{path} {reason}, so its place in the body is unknown; convert the series to NIfTI.")
    axes = np.array(header.ImageOrientationPatient, dtype=np.float64)
    return _Slice(
        path=path,
        shape=(int(header.Rows), int(header.Columns)),
        position=np.array(header.ImagePositionPatient, dtype=np.float64),
        along_row=axes[:3],
        along_column=axes[3:],
        spacing=(float(header.PixelSpacing[0]), float(header.PixelSpacing[1])),
    )


def _require_one_grid(folder: Path, slices: Sequence[_Slice]) -> None:
    first = slices[0]
    for entry in slices:
        turned = np.abs([entry.along_row - first.along_row, entry.along_column - first.along_column]).max()
        if entry.shape != first.shape or entry.spacing != first.spacing or turned > _SAME_DIRECTION:
            raise InputUnreadable(f"{folder} mixes slices of several sizes or directions; keep one stack.")


def _even_gap(folder: Path, depths: Sequence[float]) -> float:
    """The distance of neighbouring slices in mm."""
    gaps = np.diff(depths)
    if not len(gaps):
        raise InputUnreadable(f"{folder} has one slice; a volume needs at least two.")
    gap = float(np.median(gaps))
    if gap <= 0 or np.abs(gaps - gap).max() > _LARGEST_GAP_DIFFERENCE * gap:
        found = f"{gaps.min():g} to {gaps.max():g} mm"
        raise InputUnreadable(f"{folder} has slices {found} apart; fetch what is missing, or remove copies.")
    return gap


def _measured(path: Path) -> FloatGrid:
    with faults_of(path):
        dataset = pydicom.dcmread(path)
        if "PixelData" not in dataset or dataset.SamplesPerPixel > 1 or dataset.PhotometricInterpretation[:4] != "MONO":
            raise InputUnreadable(f"{path} holds no measured intensities (colour, or no pixels at all).")
        values: FloatGrid = apply_modality_lut(dataset.pixel_array, dataset).astype(np.float32)
        return values

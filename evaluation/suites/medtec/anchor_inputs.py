"""What a model is given of an anchor: the volume as a whole, or a plane image; and two images that show nothing."""

import re
from pathlib import Path

from evaluation.errors import SuiteInvalid
from evaluation.hashing import series_files
from evaluation.inputs import EmbeddingInput, Plane
from evaluation.probe_types import Anchor

BLIND_IMAGES = tuple(Path(__file__).parent / "checks" / name for name in ("blank.png", "noise.png"))
"""64 px of middle grey, and 64 px of uniform noise (NumPy's default generator, seed 42)."""

_WINDOW = re.compile(r"(-?\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
_RASTER_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp")
_NIFTI_ENDINGS = (".nii", ".nii.gz")


def is_volume(folder: Path, anchor: Anchor) -> bool:
    """Whether an anchor is a NIfTI file or a folder of slices."""
    path = folder / anchor.path
    return path.is_dir() or path.name.lower().endswith(_NIFTI_ENDINGS)


def anchor_input(folder: Path, anchor: Anchor, *, takes_volumes: bool) -> EmbeddingInput:
    """What a model is given of an anchor.

    Args:
        folder: the suite's.
        anchor: a row of a manifest.
        takes_volumes: whether the model sees a volume as one; else it is given the slice that the manifest names, in
            the manifest's window ("LEVEL/WIDTH", for NIfTI files).

    Raises:
        SuiteInvalid: the manifest names no slice or window of a volume that a plane image is needed of.
        InputUnreadable: a folder of slices cannot be listed.
    """
    path = folder / anchor.path
    if not is_volume(folder, anchor):
        return EmbeddingInput(images=(path,))
    if path.is_dir():
        return _input_of_folder(path, anchor, takes_volumes=takes_volumes)
    if takes_volumes:
        return EmbeddingInput(images=(path,), is_volume=True)
    return EmbeddingInput(images=(path,), plane=_plane(anchor))


def blind_inputs(*, as_volumes: bool) -> tuple[EmbeddingInput, EmbeddingInput]:
    """A blank and a noise image, as volumes of one slice where the model is given volumes."""
    blank, noise = (EmbeddingInput(images=(path,), is_volume=as_volumes) for path in BLIND_IMAGES)
    return blank, noise


def _input_of_folder(path: Path, anchor: Anchor, *, takes_volumes: bool) -> EmbeddingInput:
    """A folder of raster slices in the order of their names; a folder of DICOM files is one series."""
    slices = series_files(path)
    are_rasters = all(file.name.lower().endswith(_RASTER_ENDINGS) for file in slices)
    if takes_volumes:
        return EmbeddingInput(images=tuple(slices) if are_rasters else (path,), is_volume=True)
    index = _slice_index(anchor)
    if not are_rasters:
        raise SuiteInvalid(
            f"{anchor.anchor_id}: {path} is a DICOM series, of which no plane image is taken. Convert it to NIfTI."
        )
    if index >= len(slices):
        raise SuiteInvalid(f"{anchor.anchor_id}: {path} has {len(slices)} slices, so there is no slice {index}.")
    return EmbeddingInput(images=(slices[index],))


def _plane(anchor: Anchor) -> Plane:
    window = _WINDOW.fullmatch(anchor.window)
    if window is None:
        raise SuiteInvalid(f"{anchor.anchor_id}: window {anchor.window!r} is not LEVEL/WIDTH, e.g. 40/400.")
    return Plane(slice_index=_slice_index(anchor), level=float(window[1]), width=float(window[2]))


def _slice_index(anchor: Anchor) -> int:
    if anchor.slice_index is None:
        raise SuiteInvalid(f"{anchor.anchor_id}: it is a volume, and no slice_index says which slice stands for it.")
    return anchor.slice_index

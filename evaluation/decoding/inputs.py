"""From an input to its images, whatever files they lie in."""

from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from evaluation.decoding.dicom import is_dicom, read_dicom, read_series, read_slices
from evaluation.decoding.dicom_volumes import read_series_volume
from evaluation.decoding.faults import faults_of
from evaluation.decoding.nifti import is_nifti, read_nifti, read_nifti_plane, read_nifti_volume
from evaluation.decoding.rasters import read_raster
from evaluation.decoding.sampling import sample_evenly
from evaluation.decoding.volumes import Volume
from evaluation.errors import InputUnreadable, InputUnsupported
from evaluation.hashing import series_files
from evaluation.inputs import MAX_VOLUME_SLICES, EmbeddingInput, Plane


@dataclass(frozen=True, slots=True)
class DecodedInput:
    """An input with its files read: `images` are RGB, in reading order; a volume's are its sampled slices."""

    source: EmbeddingInput
    images: tuple[Image.Image, ...] = ()

    def volume(self) -> Volume:
        """All of a volume with intensities and voxel size as measured, read from its files now; nothing is kept.

        Only models that see volumes ask for it: pictures of slices have lost both.

        Raises:
            InputUnsupported: the volume is given as pictures of its slices.
            InputUnreadable, InputTooLarge: see the readers of the formats.
        """
        return _read_measured(self.source)


def decode(source: EmbeddingInput) -> DecodedInput:
    """Read the files of an input. A volume is sampled evenly to at most `MAX_VOLUME_SLICES` slices.

    Raises:
        InputUnreadable: the input is empty, or a file is missing, empty, damaged or not what the input says.
        InputTooLarge: an image or volume is beyond its limit.
    """
    _require_characters(source)
    if source.is_volume:
        return DecodedInput(source, _read_volume(source))
    if source.plane is not None:
        return DecodedInput(source, (_read_plane(source.images, source.plane),))
    if not source.text.strip() and not source.images:
        raise InputUnreadable("The input has neither text nor images; give at least one of them.")
    return DecodedInput(source, tuple(_read_image(path) for path in source.images))


def _require_characters(source: EmbeddingInput) -> None:
    for name, text in (("text", source.text), ("instruction", source.instruction)):
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputUnreadable(f"The {name} {text[:40]!r} has half a character; repair its encoding.") from error


def _read_volume(source: EmbeddingInput) -> tuple[Image.Image, ...]:
    if not source.images:
        raise InputUnreadable("The volume has no files; give its slices, a NIfTI file or a DICOM series folder.")
    if len(source.images) > 1:
        paths = sample_evenly(source.images, MAX_VOLUME_SLICES)
        if all(_names_dicom(path) for path in paths):
            return read_slices(paths)
        return tuple(_read_image(path) for path in paths)
    path = source.images[0]
    with faults_of(path):
        if path.is_dir():
            return read_series(series_files(path))
        _require_content(path)
        if is_nifti(path):
            return read_nifti(path)
        if is_dicom(path):
            return read_dicom(path)
        return (read_raster(path),)


def _read_measured(source: EmbeddingInput) -> Volume:
    paths = source.images
    if len(paths) == 1:
        path = paths[0]
        with faults_of(path):
            if path.is_dir():
                return read_series_volume(series_files(path))
            if is_nifti(path):
                return read_nifti_volume(path)
    elif all(_names_dicom(path) for path in paths):
        return read_series_volume(paths)
    raise InputUnsupported(
        f"{source.label}: pictures of slices have no measured intensities and no voxel size, which a model of volumes "
        "needs; give a NIfTI file or a DICOM series."
    )


def _read_plane(images: tuple[Path, ...], plane: Plane) -> Image.Image:
    if len(images) != 1 or not is_nifti(images[0]):
        raise InputUnreadable(f"A slice is taken of one NIfTI file, not of {', '.join(map(str, images)) or 'nothing'}.")
    with faults_of(images[0]):
        _require_content(images[0])
        return read_nifti_plane(images[0], plane)


def _names_dicom(path: Path) -> bool:
    with faults_of(path):
        return path.is_file() and is_dicom(path)


def _read_image(path: Path) -> Image.Image:
    with faults_of(path):
        if path.is_dir():
            raise InputUnreadable(f"{path} is a folder; mark the input as a volume if it is a DICOM series.")
        _require_content(path)
        if is_nifti(path):
            raise InputUnreadable(f"{path} is a NIfTI volume; mark the input as a volume.")
        if not is_dicom(path):
            return read_raster(path)
        frames = read_dicom(path)
        if len(frames) > 1:
            raise InputUnreadable(f"{path} holds several frames; mark the input as a volume.")
        return frames[0]


def _require_content(path: Path) -> None:
    if path.stat().st_size == 0:
        raise InputUnreadable(f"{path} is empty; fetch the file again.")

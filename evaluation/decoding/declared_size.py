"""What a file says that it holds, read from its header alone."""

from dataclasses import dataclass
from pathlib import Path

import pydicom
from PIL import Image

from evaluation.decoding.dicom import is_dicom
from evaluation.decoding.faults import faults_of
from evaluation.decoding.rasters import FORMATS


@dataclass(frozen=True, slots=True)
class DeclaredSize:
    """Frames, and pixels of all of them together."""

    frames: int
    pixels: int


def declared_size(path: Path) -> DeclaredSize:
    """The size of a PNG, JPEG, TIFF or DICOM file; nothing is decoded.

    Raises:
        InputUnreadable: the header is damaged, or of another type.
    """
    with faults_of(path):
        if is_dicom(path):
            header = pydicom.dcmread(path, stop_before_pixels=True)
            frames = int(header.get("NumberOfFrames") or 1)
            return DeclaredSize(frames, int(header.Rows) * int(header.Columns) * frames)
        with Image.open(path, formats=FORMATS) as image:
            frames = int(getattr(image, "n_frames", 1))
            return DeclaredSize(frames, image.width * image.height * frames)

"""How many pixels a file says that it holds, read from its header alone."""

from pathlib import Path

import pydicom
from PIL import Image

from evaluation.decoding.dicom import is_dicom
from evaluation.decoding.faults import faults_of
from evaluation.decoding.rasters import FORMATS


def declared_pixels(path: Path) -> int:
    """Pixels of all frames or pages of a PNG, JPEG, TIFF or DICOM file, without decoding any.

    Raises:
        InputUnreadable: the header is damaged, or of another type.
    """
    with faults_of(path):
        if is_dicom(path):
            header = pydicom.dcmread(path, stop_before_pixels=True)
            return int(header.Rows) * int(header.Columns) * int(header.get("NumberOfFrames") or 1)
        with Image.open(path, formats=FORMATS) as image:
            return image.width * image.height * int(getattr(image, "n_frames", 1))

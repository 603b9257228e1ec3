"""A writer of small DICOM files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

SERIES = generate_uid(entropy_srcs=["series"])


@pytest.fixture
def write_dicom() -> Callable[..., Path]:
    """Write a grey or colour DICOM file of the given pixels; further tags by keyword."""

    def write(path: Path, pixels: np.ndarray, *, frames: bool = False, **tags: Any) -> Path:
        meta = FileMetaDataset()
        meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
        meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=[path.name])
        meta.TransferSyntaxUID = ExplicitVRLittleEndian
        dataset = FileDataset(str(path), {}, file_meta=meta, preamble=b"\0" * 128)
        dataset.SOPClassUID = meta.MediaStorageSOPClassUID
        dataset.SOPInstanceUID = meta.MediaStorageSOPInstanceUID
        dataset.SeriesInstanceUID = SERIES
        dataset.Modality = "OT"
        is_colour = tags.get("PhotometricInterpretation") == "RGB"
        grid = pixels.shape[1:] if frames else pixels.shape
        dataset.Rows, dataset.Columns = grid[:2]
        if frames:
            dataset.NumberOfFrames = pixels.shape[0]
        dataset.SamplesPerPixel = 3 if is_colour else 1
        if is_colour:
            dataset.PlanarConfiguration = 0
        dataset.BitsAllocated = dataset.BitsStored = 8 * pixels.dtype.itemsize
        dataset.HighBit = dataset.BitsStored - 1
        dataset.PixelRepresentation = int(pixels.dtype.kind == "i")
        dataset.PhotometricInterpretation = "MONOCHROME2"
        for name, value in tags.items():
            setattr(dataset, name, value)
        dataset.PixelData = pixels.tobytes()
        dataset.save_as(path, enforce_file_format=True)
        return path

    return write

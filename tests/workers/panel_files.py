"""Files that a visitor may send, harmless and hostile."""

import io
import struct
import zlib

import pydicom
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import (
    UID,
    DeflatedExplicitVRLittleEndian,
    ExplicitVRLittleEndian,
    ImplicitVRLittleEndian,
    SecondaryCaptureImageStorage,
    generate_uid,
)


def png(width: int = 4, height: int = 4) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (width, height), (9, 9, 9)).save(stream, "PNG")
    return stream.getvalue()


def bomb(side: int) -> bytes:
    """A PNG of `side` x `side` pixels in its header, and next to nothing behind it."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b"")
    )


def dicom(value: int, *, position: int, n_frames: int = 1) -> bytes:
    """A grey DICOM file of 4 x 4 pixels, the first of which has this value."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=[str(position)])
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID, dataset.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    dataset.SeriesInstanceUID = generate_uid(entropy_srcs=["series"])
    dataset.ImagePositionPatient, dataset.ImageOrientationPatient = [0, 0, position], [1, 0, 0, 0, 1, 0]
    dataset.PixelSpacing = [0.5, 0.5]
    dataset.Rows = dataset.Columns = 4
    if n_frames > 1:
        dataset.NumberOfFrames = n_frames
    dataset.SamplesPerPixel, dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 1, 8, 8, 7
    dataset.PixelRepresentation, dataset.PhotometricInterpretation = 0, "MONOCHROME2"
    dataset.PixelData = bytes([value, *range(15)] * n_frames)
    stream = io.BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def deflated(size: int) -> bytes:
    """A DICOM file of a few pixels behind which `size` zeros are packed, a thousandth of it in bytes."""
    dataset = pydicom.dcmread(io.BytesIO(dicom(9, position=0)))
    dataset.PixelData += bytes(size)
    return _saved(dataset, DeflatedExplicitVRLittleEndian)


def laborious(n_values: int) -> bytes:
    """A DICOM file that names a window `n_values` times, each of which has to be parsed."""
    dataset = pydicom.dcmread(io.BytesIO(dicom(9, position=0)))
    dataset.WindowWidth = "9"
    content = _saved(dataset, ImplicitVRLittleEndian)
    at = content.index(struct.pack("<HHI", 0x0028, 0x1051, 2))
    centres = b"1\\" * n_values
    return content[:at] + struct.pack("<HHI", 0x0028, 0x1050, len(centres)) + centres + content[at:]


def _saved(dataset: pydicom.Dataset, syntax: UID) -> bytes:
    dataset.file_meta.TransferSyntaxUID = syntax
    stream = io.BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()

"""What the panel refuses before anything is decoded, and what the worker refuses before it decodes."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

from evaluation.commands.models_to_run import find_model
from evaluation.decoding.declared_size import DeclaredSize, declared_size
from evaluation.errors import InputUnreadable
from workers.demo import limits
from workers.demo.messages import (
    Answer,
    MessageInvalid,
    Query,
    answer_from_json,
    answer_to_json,
    decode_rows,
    encode_rows,
    query_from_json,
    query_to_json,
)
from workers.demo.model import LoadedModel
from workers.demo.refusals import PanelRefusal
from workers.demo.uploads import read_uploads


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


@pytest.fixture(scope="module")
def chance() -> LoadedModel:
    """A model that sees only which input it has."""
    return LoadedModel(key="k", name="chance", embedder=find_model("chance").load("cpu"))


def put(folder: Path, **files: bytes) -> list[Path]:
    paths = []
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        paths.append(path)
    return paths


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "neither PNG, JPEG nor DICOM"),
        (b"GIF89a" + bytes(200), "neither PNG, JPEG nor DICOM"),
        (b"II*\0" + bytes(200), "neither PNG, JPEG nor DICOM"),
        (b"PK\x03\x04" + bytes(200), "neither PNG, JPEG nor DICOM"),
        (b"DICM", "neither PNG, JPEG nor DICOM"),
        (b"\x89PNG\r\n\x1a\n" + bytes(limits.MAX_FILE_BYTES), "at most 8 MB"),
    ],
)
def test_files_are_refused_by_their_first_bytes_and_size_whatever_their_name(tmp_path, content, sentence) -> None:
    with pytest.raises(PanelRefusal, match=sentence):
        read_uploads(put(tmp_path, **{"scan.png": content}))


def test_files_are_read_in_the_order_of_their_names(tmp_path) -> None:
    paths = put(tmp_path, **{"s10": png(2), "s9": png(3), "b": b"\0" * 128 + b"DICM", "9": png()})
    assert [upload.name for upload in read_uploads(paths)] == ["9", "b", "s9", "s10"]


def test_too_many_files_and_too_many_bytes_together_are_refused(tmp_path) -> None:
    many = put(tmp_path, **{f"{number:03d}": png() for number in range(limits.MAX_FILES + 1)})
    with pytest.raises(PanelRefusal, match="65 files; at most 64"):
        read_uploads(many)
    assert len(read_uploads(many[:-1])) == 64
    large = b"\xff\xd8\xff" + bytes(limits.MAX_FILE_BYTES - 3)
    with pytest.raises(PanelRefusal, match="more than 40 MB together"):
        read_uploads(put(tmp_path, **{f"large{number}": large for number in range(6)}))


@given(text=st.text(max_size=50), instruction=st.text(max_size=50), files=st.lists(st.binary(max_size=50), max_size=4))
def test_a_query_survives_the_message(text, instruction, files) -> None:
    query = Query(text, instruction, tuple(files))
    assert query_from_json(query_to_json(query)) == query


@given(
    st.one_of(
        st.none(),
        st.integers(),
        st.dictionaries(st.sampled_from(["text", "instruction", "files", "more"]), st.one_of(st.none(), st.text())),
    )
)
def test_no_other_message_is_taken_for_a_query(message) -> None:
    with pytest.raises(MessageInvalid):
        query_from_json(message)


@pytest.mark.parametrize(
    "change",
    [
        {"text": "x" * (limits.MAX_TEXT_CHARACTERS + 1)},
        {"instruction": "x" * (limits.MAX_INSTRUCTION_CHARACTERS + 1)},
        {"files": ["A==="]},
        {"files": ["ä"]},
        {"files": [""] * (limits.MAX_FILES + 1)},
    ],
)
def test_a_query_beyond_its_limits_is_refused_by_the_worker_too(change) -> None:
    with pytest.raises(MessageInvalid):
        query_from_json({"text": "", "instruction": "", "files": [], **change})


def test_vectors_survive_the_message_and_what_is_not_finite_is_refused() -> None:
    answer = Answer("k", {"whole": [0.5, -0.25]})
    assert answer_from_json(answer_to_json(answer)) == answer
    with pytest.raises(MessageInvalid, match="not finite"):
        decode_rows(encode_rows(np.array([[np.nan, 1.0]], dtype=np.float32)))
    with pytest.raises(MessageInvalid, match="shape"):
        decode_rows({"shape": [2, 2], "data": ""})
    with pytest.raises(MessageInvalid, match="says why not"):
        answer_from_json({"model_key": "k", "vectors": {}, "refused": ""})


def test_a_bomb_is_refused_by_its_header(chance) -> None:
    answer = chance.answer(Query(files=(bomb(7000),)))
    assert answer.vectors == {}
    assert answer.refused == "The files hold more than 40,000,000 pixels together. Reduce them or send fewer."
    many = chance.answer(Query(files=(png(1500, 1000),) * 27))
    assert "40,000,000 pixels" in many.refused


def test_a_damaged_file_is_named_by_its_number_and_not_by_our_folders(chance) -> None:
    answer = chance.answer(Query(files=(png(), b"\x89PNG\r\n\x1a\n" + b"\0" * 99)))
    assert answer.refused.startswith("File 2 ")
    assert "/" not in answer.refused


def test_a_query_with_both_has_vectors_of_its_parts(chance) -> None:
    both = chance.answer(Query(text="a", instruction="b", files=(png(),)))
    assert set(both.vectors) == {"whole", "text", "images"}
    assert set(chance.answer(Query(text="a")).vectors) == {"whole"}
    assert both.vectors["text"] == chance.answer(Query(text="a", instruction="b")).vectors["whole"]
    assert both.vectors["images"] == chance.answer(Query(instruction="b", files=(png(),))).vectors["whole"]


def test_the_size_that_a_file_declares_is_read_without_decoding(tmp_path) -> None:
    (path,) = put(tmp_path, bomb=bomb(30_000))
    with pytest.raises(InputUnreadable):
        declared_size(path)  # Pillow's own limit comes first
    (path,) = put(tmp_path, image=bomb(7000))
    assert declared_size(path) == DeclaredSize(frames=1, pixels=49_000_000)


def dicom(value: int, *, position: int, n_frames: int = 1) -> bytes:
    """A grey DICOM file whose pixels have one value."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=[str(position)])
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    dataset = FileDataset("", {}, file_meta=meta, preamble=b"\0" * 128)
    dataset.SOPClassUID, dataset.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    dataset.SeriesInstanceUID = generate_uid(entropy_srcs=["series"])
    dataset.ImagePositionPatient, dataset.ImageOrientationPatient = [0, 0, position], [1, 0, 0, 0, 1, 0]
    dataset.Rows = dataset.Columns = 4
    if n_frames > 1:
        dataset.NumberOfFrames = n_frames
    dataset.SamplesPerPixel, dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 1, 8, 8, 7
    dataset.PixelRepresentation, dataset.PhotometricInterpretation = 0, "MONOCHROME2"
    dataset.PixelData = bytes([value, *range(15)] * n_frames)
    stream = io.BytesIO()
    dataset.save_as(stream, enforce_file_format=True)
    return stream.getvalue()


def test_a_dicom_series_is_a_volume_in_the_order_of_its_positions(chance) -> None:
    slices = [dicom(20 * place, position=place) for place in range(1, 5)]
    in_order = chance.answer(Query(files=tuple(slices))).vectors
    assert in_order == chance.answer(Query(files=tuple(reversed(slices)))).vectors
    assert in_order != chance.answer(Query(files=tuple(slices[:3]))).vectors
    assert chance.answer(Query(files=(dicom(9, position=0, n_frames=3),))).vectors
    assert chance.answer(Query(files=(dicom(9, position=0),))).vectors
    refused = chance.answer(Query(files=(slices[0], slices[0]))).refused
    assert refused.startswith("The series cannot be ordered")

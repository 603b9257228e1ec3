"""What the panel refuses before anything is decoded, and what the worker refuses before it decodes."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.commands.models_to_run import find_model
from evaluation.decoding.declared_size import DeclaredSize, declared_size
from evaluation.errors import InputUnreadable
from tests.workers.panel_files import bomb, dicom, png
from workers.demo import limits
from workers.demo.decoders import Decoders
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
from workers.sandbox.choice import chosen_sandbox


@pytest.fixture(scope="module")
def chance() -> LoadedModel:
    """A model that sees only which input it has."""
    return LoadedModel(key="k", name="chance", embedder=find_model("chance").load("cpu"))


@pytest.fixture(scope="module")
def decoders() -> Iterator[Decoders]:
    """What reads files here, sealed off as the tests' settings say."""
    with closing(Decoders(chosen_sandbox(os.environ["SANDBOX"]))) as decoders:
        yield decoders


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


def test_a_bomb_is_refused_by_its_header(chance, decoders) -> None:
    answer = chance.answer(Query(files=(bomb(7000),)), decoders)
    assert answer.vectors == {}
    assert answer.refused == "The files hold more than 40,000,000 pixels together. Reduce them or send fewer."
    many = chance.answer(Query(files=(png(1500, 1000),) * 27), decoders)
    assert "40,000,000 pixels" in many.refused


def test_a_damaged_file_is_named_by_its_number_and_not_by_our_folders(chance, decoders) -> None:
    answer = chance.answer(Query(files=(png(), b"\x89PNG\r\n\x1a\n" + b"\0" * 99)), decoders)
    assert answer.refused.startswith("File 2 ")
    assert "/" not in answer.refused


def test_a_query_with_both_has_vectors_of_its_parts(chance, decoders) -> None:
    both = chance.answer(Query(text="a", instruction="b", files=(png(),)), decoders)
    assert set(both.vectors) == {"whole", "text", "images"}
    assert set(chance.answer(Query(text="a"), decoders).vectors) == {"whole"}
    assert both.vectors["text"] == chance.answer(Query(text="a", instruction="b"), decoders).vectors["whole"]
    assert both.vectors["images"] == chance.answer(Query(instruction="b", files=(png(),)), decoders).vectors["whole"]


def test_the_size_that_a_file_declares_is_read_without_decoding(tmp_path) -> None:
    (path,) = put(tmp_path, bomb=bomb(30_000))
    with pytest.raises(InputUnreadable):
        declared_size(path)  # Pillow's own limit comes first
    (path,) = put(tmp_path, image=bomb(7000))
    assert declared_size(path) == DeclaredSize(frames=1, pixels=49_000_000)


def test_a_dicom_series_is_a_volume_in_the_order_of_its_positions(chance, decoders) -> None:
    slices = [dicom(20 * place, position=place) for place in range(1, 5)]
    in_order = chance.answer(Query(files=tuple(slices)), decoders).vectors
    assert in_order == chance.answer(Query(files=tuple(reversed(slices))), decoders).vectors
    assert in_order != chance.answer(Query(files=tuple(slices[:3])), decoders).vectors
    assert chance.answer(Query(files=(dicom(9, position=0, n_frames=3),)), decoders).vectors
    assert chance.answer(Query(files=(dicom(9, position=0),)), decoders).vectors
    refused = chance.answer(Query(files=(slices[0], slices[0])), decoders).refused
    assert refused.startswith("The series cannot be ordered")

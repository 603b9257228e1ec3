"""Every line of a training file is read as it was meant, or refused with its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataMissing, EvaluationError, RecordInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.suites.records import Evidence, TrainingPair, pair_to_json
from evaluation.training.records import RecordReader, TrainingRecord
from tests.evaluation.training.conftest import line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(b"not looked into")
    return tmp_path


def read(folder: Path, body: Any) -> TrainingRecord:
    return RecordReader(folder).record(json.dumps(body).encode(), source="set", where="set.jsonl, line 3")


def test_everything_of_a_record_is_read(folder: Path) -> None:
    body = {
        "messages": [{"role": "system", "content": "Find it."}, {"role": "user", "content": "<image><image>left?"}],
        "images": ["a.png", "b.png"],
        "positive_messages": [[{"role": "user", "content": "<image>"}]],
        "positive_images": [["b.png"]],
        "negative_messages": [[{"role": "user", "content": "right"}], [{"role": "user", "content": "<image>none"}]],
        "negative_images": [[], ["a.png"]],
        "qry_modality": "video",
        "label": ["oedema", "effusion"],
        "study": "set/12",
    }
    a, b = folder / "a.png", folder / "b.png"
    assert read(folder, body) == TrainingRecord(
        source="set",
        query=EmbeddingInput(text="left?", images=(a, b), is_volume=True, instruction="Find it."),
        positive=EmbeddingInput(images=(b,)),
        negatives=(EmbeddingInput(text="right"), EmbeddingInput(text="none", images=(a,))),
        labels=frozenset({"effusion", "oedema"}),
        study="set/12",
    )


def test_one_list_of_images_is_dealt_out_in_the_order_of_the_marks(folder: Path) -> None:
    shown = [[{"role": "user", "content": "<image>"}]]
    record = read(folder, {**line("which?", ""), "images": ["b.png"], "positive_messages": shown})
    assert (record.query.images, record.positive.images) == ((), (folder / "b.png",))
    both = {**line("<image>which?", ""), "images": ["a.png", "b.png"], "positive_messages": shown}
    assert [item.images[0].name for item in read(folder, both).inputs] == ["a.png", "b.png"]
    with pytest.raises(RecordInvalid, match="positive 0: 1 <image> marks for 0 images"):
        read(folder, {**both, "images": ["a.png"]})
    with pytest.raises(RecordInvalid, match="messages: 1 <image> marks for 2 images"):
        read(folder, {**both, "images": ["a.png", "b.png", "a.png"]})


def test_what_a_suite_builder_writes_is_read_back(folder: Path) -> None:
    pair = TrainingPair(
        "Same.", Evidence(images=("a.png", "b.png"), is_volume=True), Evidence(images=("b.png",), is_volume=True), "x"
    )
    record = read(folder, pair_to_json(pair))
    assert (record.query.is_volume, record.positive.is_volume) == (True, True)
    assert record.labels == {"x"}
    mixed = read(
        folder, pair_to_json(TrainingPair("", Evidence(images=("a.png",), is_volume=True), Evidence("report")))
    )
    assert (mixed.query.is_volume, mixed.positive.is_volume) == (True, False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"messages": []}, "no turn of the user"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, "role 'assistant'"),
        ({"messages": [{"role": "user", "content": "x"}] * 2}, "two turns"),
        ({"messages": [{"role": "user"}]}, "'content' is missing"),
        ({"messages": "x"}, "list is expected"),
        ({"messages": [{"role": "user", "content": " "}]}, "neither text nor an image"),
        ({"messages": [{"role": "user", "content": "<image>"}]}, "1 <image> marks for 0 images"),
        ({"messages": [{"role": "user", "content": "<video>x"}]}, "<video> cannot be read"),
        ({"images": ["a.png"]}, "0 <image> marks for 1 images"),
        ({"positive_messages": []}, "0 positives"),
        ({"positive_messages": [[{"role": "user", "content": "x"}]] * 2}, "2 positives"),
        ({"positive_images": []}, "1 positive_messages and 0 positive_images"),
        ({"negative_messages": [[{"role": "user", "content": "answer"}]]}, "among the negatives"),
        ({"qry_modality": "audio"}, "qry_modality: 'audio'"),
        ({"label": 3}, "label: list is expected"),
        ({"label": [""]}, "label: the text is empty"),
        ({"study": 4}, "study: str is expected"),
        ({"messages": [{"role": "user", "content": "<image>"}], "images": ["../a.png"]}, "without '..'"),
    ],
)
def test_a_broken_record_is_refused_with_its_place(folder: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordInvalid, match=message) as raised:
        read(folder, {**line("query", "answer"), **change})
    assert raised.value.message.startswith("set.jsonl, line 3")


def test_a_missing_image_is_named(folder: Path) -> None:
    with pytest.raises(DataMissing, match=r"line 3.*gone\.png does not exist"):
        read(folder, line("<image>", "x", images=["gone.png"]))


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b"3", b"null"])
def test_what_is_no_object_is_refused(folder: Path, content: bytes) -> None:
    with pytest.raises(RecordInvalid, match=r"^set\.jsonl, line 3"):
        RecordReader(folder).record(content, source="set", where="set.jsonl, line 3")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("role", "content", "x")), inner),
    max_leaves=6,
)


@given(field=st.sampled_from(sorted({*line("", ""), "images", "label", "study", "negative_messages"})), value=JSON)
def test_any_value_of_any_field_is_read_or_refused(field: str, value: Any) -> None:
    message = ""
    try:
        record = read(Path("nowhere"), {**line("query", "answer"), field: value})
        assert record.query.text
        assert record.positive.text
    except EvaluationError as error:
        message = error.message
    assert message.startswith("set.jsonl, line 3" if message else "")

"""Lines of a child: what is a message, and what is not."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.hostile_child import READY
from workers.child_errors import ChildMisbehaved
from workers.child_messages import MAX_MESSAGE, checked_message

PROGRESS = {"type": "progress", "task": "t", "stage": "ranking", "done": 0, "total": 3}
FAILURE = {"code": "model_invalid", "kind": "model", "message": "m"}
GOOD = [
    READY,
    PROGRESS,
    {"type": "task_result", "result": {"task": "t", "anything": [1.5]}},
    {"type": "task_failed", "task": "t", **FAILURE},
    {"type": "idle"},
    {"type": "failed", **FAILURE},
]


def line(document: Any) -> bytes:
    return json.dumps(document).encode() + b"\n"


@pytest.mark.parametrize("message", GOOD, ids=lambda message: message["type"])
def test_messages_come_through(message: dict[str, Any]) -> None:
    assert checked_message(line(message)) == message


@pytest.mark.parametrize("message", GOOD, ids=lambda message: message["type"])
def test_every_field_is_needed_and_no_other_is_taken(message: dict[str, Any]) -> None:
    for name in message:
        with pytest.raises(ChildMisbehaved):
            checked_message(line({key: value for key, value in message.items() if key != name}))
    with pytest.raises(ChildMisbehaved):
        checked_message(line({**message, "surprise": 1}))


@pytest.mark.parametrize(
    ("message", "changes"),
    [
        (PROGRESS, {"done": -1}),
        (PROGRESS, {"done": 1.5}),
        (PROGRESS, {"done": "1"}),
        (PROGRESS, {"total": 2**31}),
        (PROGRESS, {"stage": "resting"}),
        (PROGRESS, {"task": ""}),
        (PROGRESS, {"task": "t\x00"}),
        (PROGRESS, {"task": "\ud800"}),
        (PROGRESS, {"task": "x" * 300_000}),
        (PROGRESS, {"task": ["t"]}),
        (GOOD[2], {"result": []}),
        (GOOD[2], {"result": {"task": 3}}),
        (GOOD[2], {"result": {"task": "t", "deep": {"text": "\x00"}}}),
        (GOOD[3], {"kind": "weather"}),
        (GOOD[3], {"code": "No Code"}),
        (GOOD[3], {"code": "c" * 65}),
        (GOOD[3], {"message": ""}),
        (READY, {"protocol": 2}),
        (READY, {"type": ["ready"]}),
    ],
)
def test_wrong_values_are_lies(message: dict[str, Any], changes: dict[str, Any]) -> None:
    with pytest.raises(ChildMisbehaved, match="protocol"):
        checked_message(line({**message, **changes}))


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("model", "dimension", 0),
        ("model", "dimension", 2**31),
        ("model", "parameters", 2**63),
        ("model", "family", "f" * 33),
        ("model", "architecture", "a" * 129),
        ("model", "encode_config", None),
        ("environment", "code_version", "c" * 65),
        ("environment", "packages", {"torch": 2}),
    ],
)
def test_descriptions_that_no_column_holds_are_lies(part: str, field: str, value: Any) -> None:
    message = copy.deepcopy(READY)
    message[part][field] = value
    with pytest.raises(ChildMisbehaved):
        checked_message(line(message))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n",
        b"[]\n",
        b"null\n",
        b'"idle"\n',
        b"\xff\xfe\n",
        b'{"type": "idle"}',
        b'{"type": "task_result", "result": {"task": "t", "value": NaN}}\n',
        b'{"type": "task_result", "result": {"task": "t", "value": -Infinity}}\n',
        b'{"type": "idle", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        b'{"type": "progress", "task": "t", "stage": "ranking", "total": 3, "done": ' + b"9" * 5000 + b"}\n",
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_lines_that_are_no_message_are_lies(raw: bytes) -> None:
    with pytest.raises(ChildMisbehaved):
        checked_message(raw)


def test_long_reasons_are_cut() -> None:
    assert checked_message(line({"type": "failed", **FAILURE, "message": "m" * 5000}))["message"] == "m" * MAX_MESSAGE


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(raw: bytes) -> None:
    with pytest.raises(ChildMisbehaved):
        checked_message(b"\x01" + raw + b"\n")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(GOOD), st.data())
def test_one_field_of_any_value_is_taken_or_is_a_lie(message: dict[str, Any], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(message)))
    changed = {**message, name: data.draw(json_values)}
    try:
        checked = checked_message(line(changed))
    except ChildMisbehaved:
        return
    assert checked["type"] in {good["type"] for good in GOOD}
    for count in ("done", "total"):
        assert 0 <= checked.get(count, 0) < 2**31

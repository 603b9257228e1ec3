"""Checks every line of a child: a child that says what it may not is found out here, before anything is stored."""

import json
from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from evaluation.errors import ErrorKind, ResultInvalid
from evaluation.messages import PROTOCOL_VERSION
from evaluation.result_schema import validate
from workers.child_errors import ChildMisbehaved

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_SMALL_LINE_BYTES = 256 * 1024
"""Of every message but a result."""
MAX_MESSAGE = 2000
MAX_CODE = 64

_LARGE = "task_result"
_TASK = {"type": "string", "minLength": 1, "maxLength": 200}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_FAILURE = {
    "code": {"type": "string", "pattern": "^[a-z0-9_]+$", "maxLength": MAX_CODE},
    "kind": {"enum": [kind.value for kind in ErrorKind]},
    "message": {"type": "string", "minLength": 1},
}


def _shape(**properties: Any) -> Draft202012Validator:
    properties = {"type": True, **properties}
    return Draft202012Validator(
        {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    )


_SHAPES: Mapping[str, Draft202012Validator] = {
    "ready": _shape(protocol={"const": PROTOCOL_VERSION}, model={"type": "object"}, environment={"type": "object"}),
    "progress": _shape(task=_TASK, stage={"enum": ["embedding", "ranking"]}, done=_COUNT, total=_COUNT),
    "task_result": _shape(result={"type": "object", "required": ["task"], "properties": {"task": _TASK}}),
    "task_failed": _shape(task=_TASK, **_FAILURE),
    "idle": _shape(),
    "failed": _shape(**_FAILURE),
}
# What the database keeps in columns of bounded length.
_DESCRIPTION = Draft202012Validator(
    {
        "properties": {
            "family": {"maxLength": 32},
            "architecture": {"maxLength": 128},
            "dimension": {"maximum": 2**31 - 1},
            "parameters": {"maximum": 2**63 - 1},
        }
    }
)
_ENVIRONMENT = Draft202012Validator({"properties": {"code_version": {"maxLength": 64}}})


def misbehaved(reason: str) -> ChildMisbehaved:
    """The error of a child that breaks the protocol."""
    return ChildMisbehaved(
        code="answer_invalid",
        kind=ErrorKind.MODEL,
        message=f"The evaluating process broke the protocol: {reason}. Its answers are not trusted any more.",
    )


def checked_message(line: bytes) -> dict[str, Any]:
    """The message of a line; its fields are all there and are what `evaluation.messages` says.

    A result is only known to be an object that names a task; `workers.ingest` checks it against the result schema.

    Raises:
        ChildMisbehaved: the line is too long, not JSON, or not a message.
    """
    message = _parsed(line)
    kind = message.get("type")
    shape = _SHAPES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        raise misbehaved("it sent a message of a type that there is not")
    if kind != _LARGE and len(line) > MAX_SMALL_LINE_BYTES:
        raise misbehaved(f"its {kind!r} message has {len(line):,} bytes")
    _check(shape, message, f"its {kind!r} message")
    if kind == "ready":
        _check_ready(message)
    if "message" in message:
        message["message"] = message["message"][:MAX_MESSAGE]
    return message


def _parsed(line: bytes) -> dict[str, Any]:
    if not line.endswith(b"\n"):
        raise misbehaved("it wrote a line that is too long or was cut off")
    try:
        message = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise misbehaved("it wrote a line that is not JSON") from error
    if not isinstance(message, dict):
        raise misbehaved("it wrote a line that is not an object")
    _check_texts(message)
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _check_texts(value: Any) -> None:
    """No text anywhere that a database cannot hold: with a zero byte, or half of a surrogate pair."""
    if isinstance(value, str):
        if "\x00" in value or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
            raise misbehaved("a text of its message cannot be stored")
    elif isinstance(value, dict):
        for name, inner in value.items():
            _check_texts(name)
            _check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            _check_texts(inner)


def _check_ready(message: Mapping[str, Any]) -> None:
    try:
        validate(message["model"], definition="modelDescription")
        validate(message["environment"], definition="environment")
    except ResultInvalid as error:
        raise misbehaved(f"its 'ready' message is wrong: {error.message[:200]}") from error
    _check(_DESCRIPTION, message["model"], "its description of the model")
    _check(_ENVIRONMENT, message["environment"], "its description of the environment")


def _check(shape: Draft202012Validator, document: Mapping[str, Any], what: str) -> None:
    error = best_match(shape.iter_errors(document))
    if error is not None:
        raise misbehaved(f"{what} is wrong: {error.json_path}: {error.message[:200]}")

"""What panel and interactive worker send each other: JSON with bounded fields, checked by whoever receives it."""

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.types import FloatMatrix
from workers.demo.limits import (
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_INSTRUCTION_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    MAX_TOTAL_BYTES,
)

EMBED_QUERY = "panel.embed_query"
EMBED_ITEMS = "panel.embed_items"
WHOLE, TEXT, IMAGES = "whole", "text", "images"
"""The query with everything, and its two parts where it has both."""


class MessageInvalid(Exception):
    """A message does not have the agreed form; the text says which field and why."""


@dataclass(frozen=True, slots=True)
class Query:
    """What a visitor searches with: a text, files (one image, or the slices of a volume in order), or both."""

    text: str = ""
    instruction: str = ""
    files: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Unit vectors by name (`whole`, and `text` and `images` where the query has both), and whose they are.

    With `refused`, a sentence for the visitor, there are none.
    """

    model_key: str
    vectors: Mapping[str, Sequence[float]]
    refused: str = ""


def query_to_json(query: Query) -> dict[str, Any]:
    """The query as a message."""
    return {
        "text": query.text,
        "instruction": query.instruction,
        "files": [base64.b64encode(content).decode("ascii") for content in query.files],
    }


def query_from_json(message: Any) -> Query:
    """A query out of a message.

    Raises:
        MessageInvalid: a field is missing, unknown, of another type, or larger than its limit.
    """
    if not isinstance(message, dict) or set(message) != {"text", "instruction", "files"}:
        raise MessageInvalid("A query has the fields text, instruction and files.")
    for name, limit in (("text", MAX_TEXT_CHARACTERS), ("instruction", MAX_INSTRUCTION_CHARACTERS)):
        if not isinstance(message[name], str) or len(message[name]) > limit:
            raise MessageInvalid(f"The field {name} is a text of at most {limit} characters.")
    files = message["files"]
    if not isinstance(files, list) or len(files) > MAX_FILES:
        raise MessageInvalid(f"The field files is a list of at most {MAX_FILES} files.")
    contents = tuple(_decoded(file) for file in files)
    if any(len(content) > MAX_FILE_BYTES for content in contents) or sum(map(len, contents)) > MAX_TOTAL_BYTES:
        raise MessageInvalid(f"A file has more than {MAX_FILE_BYTES} bytes, or all more than {MAX_TOTAL_BYTES}.")
    return Query(text=message["text"], instruction=message["instruction"], files=contents)


def _decoded(file: Any) -> bytes:
    if not isinstance(file, str):
        raise MessageInvalid("A file is a text in base 64.")
    try:
        return base64.b64decode(file, validate=True)
    except (ValueError, binascii.Error) as error:
        raise MessageInvalid("A file is a text in base 64.") from error


def answer_to_json(answer: Answer) -> dict[str, Any]:
    """The answer as a message."""
    vectors = {name: encode_rows(np.asarray([vector], dtype=np.float32)) for name, vector in answer.vectors.items()}
    return {"model_key": answer.model_key, "vectors": vectors, "refused": answer.refused}


def answer_from_json(message: Any) -> Answer:
    """An answer out of a message.

    Raises:
        MessageInvalid: it is none.
    """
    if not isinstance(message, dict) or set(message) != {"model_key", "vectors", "refused"}:
        raise MessageInvalid("An answer has the fields model_key, vectors and refused.")
    vectors = {name: decode_rows(rows)[0].tolist() for name, rows in message["vectors"].items()}
    if not message["refused"] and WHOLE not in vectors:
        raise MessageInvalid("An answer has a vector of the whole query, or says why not.")
    return Answer(model_key=message["model_key"], vectors=vectors, refused=message["refused"])


def encode_rows(rows: FloatMatrix) -> dict[str, Any]:
    """A matrix of float32, shape (n, dimension), as a message."""
    content = np.ascontiguousarray(rows, dtype="<f4")
    return {"shape": list(content.shape), "data": base64.b64encode(content.tobytes()).decode("ascii")}


def decode_rows(message: Any) -> FloatMatrix:
    """A matrix out of a message.

    Raises:
        MessageInvalid: it is none, or a number is not finite.
    """
    try:
        n_rows, dimension = message["shape"]
        rows = np.frombuffer(base64.b64decode(message["data"], validate=True), dtype="<f4").reshape(n_rows, dimension)
    except (TypeError, KeyError, ValueError, binascii.Error) as error:
        raise MessageInvalid("A matrix has a shape of two numbers, and as many numbers in base 64.") from error
    if not np.isfinite(rows).all():
        raise MessageInvalid("A vector has a number that is not finite.")
    return rows

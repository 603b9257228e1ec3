"""Headers of safetensors files: read within limits, checked to the byte, without reading the weights behind them.

A file is 8 bytes with the length of its header in little-endian order, the header as JSON, then the tensors one after
the other: https://huggingface.co/docs/safetensors/index#format.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from evaluation.errors import HeaderTooLarge, ModelInvalid, WeightsDamaged

LENGTH_BYTES = 8
MAX_HEADER_BYTES = 10_000_000

_MAX_DIMENSIONS = 16
_METADATA = "__metadata__"
_BITS = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}


@dataclass(frozen=True, slots=True)
class StoredWeights:
    """How many tensors weight files hold, and how many numbers those are."""

    tensors: int
    parameters: int


def total(headers: Iterable[StoredWeights]) -> StoredWeights:
    """What several files hold together."""
    found = list(headers)
    return StoredWeights(sum(each.tensors for each in found), sum(each.parameters for each in found))


def header_length(start: bytes, *, name: str, file_bytes: int) -> int:
    """The length of a header from the first 8 bytes of its file.

    Raises:
        HeaderTooLarge: it is larger than any honest one.
        WeightsDamaged: the file is shorter than it says.
    """
    length = int.from_bytes(start[:LENGTH_BYTES], "little")
    if len(start) < LENGTH_BYTES or file_bytes < LENGTH_BYTES:
        raise _damaged(name, "it is shorter than 8 bytes")
    if length > MAX_HEADER_BYTES:
        raise HeaderTooLarge(
            f"{name} announces a header of {length:,} bytes; {MAX_HEADER_BYTES:,} are read. Save it again."
        )
    if LENGTH_BYTES + length > file_bytes:
        raise _damaged(name, "its header goes beyond its end")
    return length


def parse_header(header: bytes, *, name: str, data_bytes: int) -> StoredWeights:
    """What a file holds, from its header; each tensor's place must fit its shape, and all of them the file.

    Args:
        header: the JSON.
        name: of the file, for messages.
        data_bytes: how many bytes follow the header.

    Raises:
        WeightsDamaged: saying what does not fit.
    """
    try:
        entries = json.loads(header, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError) as error:
        raise _damaged(name, f"its header is not JSON with names of its own ({error})") from error
    if not isinstance(entries, dict):
        raise _damaged(name, "its header is no object")
    entries.pop(_METADATA, None)
    spans = sorted((_span(name, tensor, entry) for tensor, entry in entries.items()), key=lambda span: span[:2])
    position = 0
    for start, end, _ in spans:
        if start != position:
            raise _damaged(name, f"its tensors leave or share bytes at {position:,}")
        position = end
    if position != data_bytes:
        raise _damaged(name, f"its tensors take {position:,} bytes and the file holds {data_bytes:,}")
    return StoredWeights(len(spans), sum(count for _, _, count in spans))


def read_header(path: Path, *, name: str) -> StoredWeights:
    """What a file on this machine holds; only its header is read.

    Raises:
        HeaderTooLarge, WeightsDamaged: as the functions above say.
        ModelInvalid: the file cannot be read.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            length = header_length(stream.read(LENGTH_BYTES), name=name, file_bytes=size)
            header = stream.read(length)
    except OSError as error:
        raise ModelInvalid(f"{name} cannot be read: {error.strerror}.") from error
    return parse_header(header, name=name, data_bytes=size - LENGTH_BYTES - length)


def _span(name: str, tensor: str, entry: Any) -> tuple[int, int, int]:
    """Where a tensor starts and ends, and how many numbers it has."""
    facts: dict[str, Any] = entry if isinstance(entry, dict) else {}
    kind, shape, offsets = facts.get("dtype"), facts.get("shape"), facts.get("data_offsets")
    if not isinstance(kind, str) or kind not in _BITS:
        raise _damaged(name, f"{tensor} is of the unknown number type {kind!r}")
    if not _are_sizes(shape, most=_MAX_DIMENSIONS) or not _are_sizes(offsets, most=2) or len(offsets) < 2:  # noqa: PLR2004 - start and end
        raise _damaged(name, f"{tensor} has no valid shape and place")
    start, end = offsets
    count = math.prod(shape)
    if end - start != -(-count * _BITS[kind] // 8):
        raise _damaged(name, f"{tensor} does not fit its place")
    return start, end, count


def _are_sizes(value: Any, *, most: int) -> TypeGuard[list[int]]:
    return isinstance(value, list) and len(value) <= most and all(type(size) is int and size >= 0 for size in value)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _damaged(name: str, reason: str) -> WeightsDamaged:
    return WeightsDamaged(f"{name} is not a whole safetensors file: {reason}; upload it again.")

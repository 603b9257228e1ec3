"""The JSON form of a probing task's result, and the bytes in which its arrays are kept for ever.

An array is an object of `shape` and `data`: base64 of a zlib stream of little-endian float32 numbers in C order.
"""

import base64
import binascii
import dataclasses
import json
import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluation.errors import ResultInvalid
from evaluation.probe_types import FloatArray, ProbeTaskResult
from evaluation.result_schema import check_interval, validate
from evaluation.types import MetricValue
from evaluation.vocabulary import ProbeTaskKind

MOST_NUMBERS = 1 << 24
"""The largest array that is read: 64 MiB of numbers."""

_FLOAT32 = np.dtype("<f4")


def probe_result_to_json(result: ProbeTaskResult) -> dict[str, Any]:
    """A probing result as JSON values; arrays are packed."""
    document = {field.name: getattr(result, field.name) for field in dataclasses.fields(ProbeTaskResult)}
    return document | {
        "metrics": [dataclasses.asdict(metric) for metric in result.metrics],
        "counts": dict(result.counts),
        "arrays": _arrays_to_json(result.arrays),
        "warnings": list(result.warnings),
    }


def probe_result_from_json(document: Any) -> ProbeTaskResult:
    """A probing result from JSON values.

    Raises:
        ResultInvalid: the document breaks the schema, or an array is not what its shape says or not finite.
    """
    validate(document, definition="probeTaskResult")
    task = document["task"]
    metrics = tuple(MetricValue(**metric) for metric in document["metrics"])
    for metric in metrics:
        check_interval(task, metric)
    return ProbeTaskResult(
        **document
        | {
            "kind": ProbeTaskKind(document["kind"]),
            "metrics": metrics,
            "arrays": _arrays_from_json(document["arrays"], where=task),
            "warnings": tuple(document["warnings"]),
        }
    )


def packed_arrays(result: ProbeTaskResult) -> bytes:
    """All arrays of a result as bytes for a database: the JSON of the schema's `arrays`."""
    return json.dumps(_arrays_to_json(result.arrays), separators=(",", ":"), sort_keys=True).encode("ascii")


def unpack_arrays(packed: bytes, *, task: str) -> dict[str, FloatArray]:
    """The arrays of `packed_arrays`; `task` names them in messages.

    Raises:
        ResultInvalid: the bytes do not hold arrays.
    """
    try:
        document = json.loads(packed)
    except (ValueError, RecursionError) as error:
        raise ResultInvalid(f"{task}: arrays cannot be unpacked, they are not JSON: {error}.") from error
    validate(document, definition="arrays")
    return _arrays_from_json(document, where=task)


def _arrays_to_json(arrays: Mapping[str, FloatArray]) -> dict[str, Any]:
    return {
        name: {
            "shape": list(array.shape),
            "data": base64.b64encode(zlib.compress(array.astype(_FLOAT32).tobytes(), level=9)).decode("ascii"),
        }
        for name, array in arrays.items()
    }


def _arrays_from_json(document: Mapping[str, Any], *, where: str) -> dict[str, FloatArray]:
    return {name: _array(packed, where=f"{where}: array {name}") for name, packed in document.items()}


def _array(packed: Mapping[str, Any], *, where: str) -> FloatArray:
    shape = tuple(packed["shape"])
    count = math.prod(shape)
    if count > MOST_NUMBERS:
        raise ResultInvalid(f"{where} has {count:,} numbers; at most {MOST_NUMBERS:,} are read.")
    expected = count * _FLOAT32.itemsize
    unpacker = zlib.decompressobj()
    try:
        # One byte more than expected is enough to see that there is too much, whatever it would unpack to.
        data = unpacker.decompress(base64.b64decode(packed["data"], validate=True), expected + 1)
    except (binascii.Error, zlib.error) as error:
        raise ResultInvalid(f"{where} cannot be unpacked: {error}.") from error
    if len(data) != expected or not unpacker.eof:
        raise ResultInvalid(f"{where} does not hold the {count:,} numbers of its shape.")
    array: FloatArray = np.frombuffer(data, dtype=_FLOAT32).astype(np.float32).reshape(shape)
    if not np.isfinite(array).all():
        raise ResultInvalid(f"{where} has a number that is not finite.")
    return array

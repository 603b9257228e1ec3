"""The result file: everything measured in one run and everything needed to repeat it.

`schemas/result.schema.json` is its JSON Schema; `schemas/README.md` says what the fields mean.
"""

import base64
import binascii
import dataclasses
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.errors import ResultInvalid
from evaluation.probe_results import probe_result_from_json, probe_result_to_json
from evaluation.probe_types import ProbeTaskResult
from evaluation.result_schema import check_interval, validate
from evaluation.types import (
    AggregateValue,
    EmbeddingStatistics,
    FirstRanked,
    IntVector,
    MetricValue,
    ModelDescription,
    RankOutcomes,
    TaskFailure,
    TaskResult,
)

SCHEMA_VERSION = 1

_OUTCOME_ARRAYS = ("records", "above", "tied", "relevant", "pool")
_INT32 = np.dtype("<i4")


@dataclass(frozen=True, slots=True)
class SuiteIdentity:
    """Which suite was run; `manifest_sha256` covers the declaration of every task."""

    slug: str
    version: str
    title: str
    synthetic: bool
    manifest_sha256: str


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model was run: a hub id or folder and a commit, likewise for its adapter. Empty texts stand for none."""

    id: str
    revision: str
    adapter_id: str
    adapter_revision: str
    description: ModelDescription
    encode_config_sha256: str


@dataclass(frozen=True, slots=True)
class RunResult:
    """The content of a result file: results of a retrieval suite in `tasks`, of a probing suite in `probe_tasks`."""

    suite: SuiteIdentity
    model: ModelIdentity
    environment: Mapping[str, Any]
    seed: int
    created_at: str
    tasks: tuple[TaskResult, ...]
    failures: tuple[TaskFailure, ...]
    aggregates: tuple[AggregateValue, ...]
    embedding: EmbeddingStatistics | None = None
    probe_tasks: tuple[ProbeTaskResult, ...] = ()


def task_result_to_json(result: TaskResult) -> dict[str, Any]:
    """A task result as JSON values; per-query arrays are packed."""
    document = {
        field.name: getattr(result, field.name)
        for field in dataclasses.fields(TaskResult)
        if field.name not in ("metrics", "outcomes", "records", "first_ranked")
    }
    document["metrics"] = [dataclasses.asdict(metric) for metric in result.metrics]
    document["n_queries"] = len(result.outcomes)
    document["outcomes"] = _packed(result)
    if result.first_ranked:
        document["first_ranked"] = [dataclasses.asdict(found) for found in result.first_ranked]
    return document


def task_result_from_json(document: Any) -> TaskResult:
    """A task result from JSON values.

    Raises:
        ResultInvalid: the document breaks the schema or its arrays contradict each other.
    """
    validate(document, definition="taskResult")
    return _task_result(document)


def any_result_to_json(result: TaskResult | ProbeTaskResult) -> dict[str, Any]:
    """The result of a task of either kind of suite as JSON values."""
    return task_result_to_json(result) if isinstance(result, TaskResult) else probe_result_to_json(result)


def any_result_from_json(document: Any) -> TaskResult | ProbeTaskResult:
    """The result of a task of either kind of suite; that of a probing task says its `kind`.

    Raises:
        ResultInvalid: the document breaks the schema or its arrays contradict each other.
    """
    is_probe = isinstance(document, dict) and "kind" in document
    return probe_result_from_json(document) if is_probe else task_result_from_json(document)


def failure_to_json(failure: TaskFailure) -> dict[str, Any]:
    """A task failure as JSON values."""
    return dataclasses.asdict(failure)


def run_result_to_json(result: RunResult) -> dict[str, Any]:
    """A whole result as the content of a result file."""
    return {
        "schema_version": SCHEMA_VERSION,
        "suite": dataclasses.asdict(result.suite),
        "model": {**dataclasses.asdict(result.model), "description": description_to_json(result.model.description)},
        "environment": dict(result.environment),
        "seed": result.seed,
        "created_at": result.created_at,
        "tasks": [task_result_to_json(task) for task in result.tasks],
        "probe_tasks": [probe_result_to_json(task) for task in result.probe_tasks],
        "failures": [failure_to_json(failure) for failure in result.failures],
        "aggregates": [dataclasses.asdict(aggregate) for aggregate in result.aggregates],
        "embedding": None if result.embedding is None else dataclasses.asdict(result.embedding),
    }


def run_result_from_json(document: Any) -> RunResult:
    """A whole result from the content of a result file.

    Raises:
        ResultInvalid: the document breaks the schema or arrays contradict each other.
    """
    validate(document)
    model = document["model"]
    description = model["description"] | {"kinds": tuple(model["description"]["kinds"])}
    embedding = document.get("embedding")
    return RunResult(
        suite=SuiteIdentity(**document["suite"]),
        model=ModelIdentity(**(model | {"description": ModelDescription(**description)})),
        environment=document["environment"],
        seed=document["seed"],
        created_at=document["created_at"],
        tasks=tuple(_task_result(task) for task in document["tasks"]),
        failures=tuple(TaskFailure(**failure) for failure in document["failures"]),
        aggregates=tuple(AggregateValue(**aggregate) for aggregate in document["aggregates"]),
        embedding=None if embedding is None else EmbeddingStatistics(**embedding),
        probe_tasks=tuple(probe_result_from_json(task) for task in document.get("probe_tasks", ())),
    )


def description_to_json(description: ModelDescription) -> dict[str, Any]:
    """A model's description as JSON values."""
    document = dataclasses.asdict(description)
    return {**document, "kinds": list(description.kinds), "encode_config": dict(description.encode_config)}


def write_result(path: Path, result: RunResult) -> None:
    """Write a result file; it appears whole or not at all.

    Raises:
        ResultInvalid: a value breaks the schema, so nothing is written.
    """
    document = run_result_to_json(result)
    validate(document)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_result(path: Path) -> RunResult:
    """Read a result file.

    Raises:
        ResultInvalid: the file cannot be read or breaks the schema; the message names file and field.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise ResultInvalid(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise ResultInvalid(f"{path} is not JSON: {error}.") from error
    try:
        return run_result_from_json(document)
    except ResultInvalid as error:
        raise ResultInvalid(f"{path}: {error.message}") from error


def _packed(result: TaskResult) -> str:
    outcomes = result.outcomes
    arrays = (result.records, outcomes.above, outcomes.tied, outcomes.relevant, outcomes.pool)
    return base64.b64encode(zlib.compress(np.concatenate(arrays).astype(_INT32).tobytes(), level=9)).decode("ascii")


def unpack_outcomes(packed: bytes, n_queries: int, *, task: str) -> tuple[IntVector, RankOutcomes]:
    """Record numbers and outcomes of a task from their packed form (the schema's `outcomes` without base64).

    Raises:
        ResultInvalid: the bytes do not hold the arrays of so many queries, or the arrays contradict each other.
    """
    expected = n_queries * len(_OUTCOME_ARRAYS) * _INT32.itemsize
    unpacker = zlib.decompressobj()
    try:
        # One byte more than expected is enough to see that there is too much, whatever it would unpack to.
        data = unpacker.decompress(packed, expected + 1)
    except zlib.error as error:
        raise ResultInvalid(f"{task}: outcomes cannot be unpacked: {error}.") from error
    if len(data) != expected or not unpacker.eof:
        raise ResultInvalid(f"{task}: outcomes do not hold {len(_OUTCOME_ARRAYS)} arrays of {n_queries} numbers.")
    arrays = np.frombuffer(data, dtype=_INT32).astype(np.int32).reshape(len(_OUTCOME_ARRAYS), n_queries)
    records, *ranks = arrays
    outcomes = RankOutcomes(*ranks)
    ranked = outcomes.above.astype(np.int64) + outcomes.tied + outcomes.relevant
    if (arrays < 0).any() or (outcomes.relevant < 1).any() or (ranked > outcomes.pool).any():
        raise ResultInvalid(f"{task}: outcomes contradict each other.")
    return records, outcomes


def _task_result(document: Mapping[str, Any]) -> TaskResult:
    try:
        packed = base64.b64decode(document["outcomes"], validate=True)
    except binascii.Error as error:
        raise ResultInvalid(
            f"{document['task']}: outcomes cannot be unpacked, they are not base64: {error}."
        ) from error
    records, outcomes = unpack_outcomes(packed, document["n_queries"], task=document["task"])
    packed_fields = ("n_queries", "outcomes", "metrics", "first_ranked")
    plain = {key: value for key, value in document.items() if key not in packed_fields}
    examples = tuple(FirstRanked(**found) for found in document.get("first_ranked", ()))
    _check_examples(examples, records, outcomes, task=document["task"])
    metrics = tuple(MetricValue(**metric) for metric in document["metrics"])
    for metric in metrics:
        check_interval(document["task"], metric)
    return TaskResult(**plain, metrics=metrics, outcomes=outcomes, records=records, first_ranked=examples)


def _check_examples(examples: Sequence[FirstRanked], records: IntVector, outcomes: RankOutcomes, *, task: str) -> None:
    """Examples are of distinct queries of the task and say of each the same as its ranks.

    Raises:
        ResultInvalid: they do not.
    """
    positions = {int(record): position for position, record in enumerate(records)}
    if len({found.record for found in examples}) != len(examples):
        raise ResultInvalid(f"{task}: first_ranked names a record twice.")
    for found in examples:
        position = positions.get(found.record)
        if position is None:
            raise ResultInvalid(f"{task}: first_ranked names record {found.record}, which is no query.")
        above, tied = int(outcomes.above[position]), int(outcomes.tied[position])
        is_right = (found.candidate_record, found.candidate_place) == (found.record, 0)
        fits = found.level_with == tied if is_right else found.level_with < above
        if is_right != (above == 0) or not fits:
            raise ResultInvalid(f"{task}: first_ranked contradicts the ranks of record {found.record}.")

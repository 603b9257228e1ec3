"""Reads a suite folder in the layout of the MedHEB release: its task list, and the records of each task.

A folder with `suite.json` declares its own tasks. A folder without one is the release itself, and the packaged
catalogue says what its tasks are.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from evaluation.errors import (
    DataMissing,
    EvaluationError,
    InputUnreadable,
    RecordInvalid,
    SuiteInvalid,
)
from evaluation.hashing import FileHashes, content_key
from evaluation.inputs import EmbeddingInput
from evaluation.json_fields import read_json
from evaluation.manifest import MANIFEST_NAME, read_manifest
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.image_root import ImageRoot
from evaluation.suites.medheb.records import ParsedRecord, parse_record
from evaluation.suites.task_selection import tasks_named
from evaluation.types import RetrievalQuery, RetrievalTask, SuiteSpec, TaskSpec
from evaluation.vocabulary import PoolScope

_RELEASE_FOLDERS = ("2D_Task", "3D_Task", "Text_Task")
_SMALLEST_POOL = 2  # the relevant candidate and one other


def read_suite(folder: Path) -> SuiteSpec:
    """The suite that lies in a folder.

    Raises:
        SuiteInvalid: the folder has neither a valid manifest nor a task folder of the release.
    """
    manifest = folder / MANIFEST_NAME
    if manifest.exists():
        return read_manifest(manifest)
    if any((folder / name).is_dir() for name in _RELEASE_FOLDERS):
        return medheb_suite()
    raise SuiteInvalid(
        f"{folder} is no suite: it has neither {MANIFEST_NAME} nor any of {', '.join(_RELEASE_FOLDERS)}. "
        "Name the folder that holds them."
    )


def select_tasks(suite: SuiteSpec, names: Sequence[str]) -> tuple[TaskSpec, ...]:
    """The tasks of these names in the suite's order; all tasks if no name is given.

    Raises:
        TaskUnknown: the suite has no task of a name.
    """
    return tasks_named(suite.tasks, names, suite=f"{suite.slug} {suite.version}")


def task_is_installed(folder: Path, spec: TaskSpec) -> bool:
    """Whether a task's file is there and its image root has anything in it; records are not read."""
    if not (folder / spec.data_path).is_file():
        return False
    root = folder / spec.image_root
    return not spec.image_root or (root.is_dir() and any(root.iterdir()))


def load_task(folder: Path, spec: TaskSpec, *, hashes: FileHashes | None = None) -> RetrievalTask:
    """Read and check all records of a task and hash everything that will be embedded.

    Candidates of equal content are one candidate. A query's own copy in its pool is excluded from the ranking unless
    it is the relevant candidate: a candidate of the same evidence as the query, whatever the instruction, or of the
    query's images alone. `hashes` remembers the files already hashed; give the same object for all tasks of a run.

    Raises:
        DataMissing: the task file or an image is not installed.
        SuiteInvalid: the task file is not a JSON list.
        RecordInvalid: a record breaks the format; the message has the record's number, from 0.
        InputUnreadable: an image cannot be read.
    """
    return survey_task(folder, spec, hashes=hashes or FileHashes(), check=_accept, report=_refuse)


def survey_task(
    folder: Path,
    spec: TaskSpec,
    *,
    hashes: FileHashes,
    check: Callable[[EmbeddingInput], None],
    report: Callable[[int, EvaluationError], None],
) -> RetrievalTask:
    """Read a task as `load_task` does, but hand each broken record to `report` and go on with the next.

    `check` may refuse an input by raising `InputUnreadable`. If `report` was called, the task that is returned lacks
    records and must not be evaluated.

    Raises:
        DataMissing: the task file is not installed.
        SuiteInvalid: the task file is not a JSON list of records.
    """
    path = folder / spec.data_path
    root = ImageRoot(folder / spec.image_root)
    builder = _Builder(hashes, check)
    for number, record in enumerate(read_records(path)):
        where = f"{path}: record {number}"
        try:
            builder.add(number, parse_record(record, spec.parser, root, where=where), where=where)
        except EvaluationError as error:
            report(number, error)
    return builder.task(spec, where=str(path), report=report)


def _accept(_source: EmbeddingInput) -> None:
    """Loading leaves it to the embedding to decode an input."""


def _refuse(_record: int, error: EvaluationError) -> None:
    raise error


def read_records(path: Path) -> list[object]:
    """The records of a task file as they stand.

    Raises:
        DataMissing: there is no such file.
        SuiteInvalid: it is not a JSON list, or an empty one.
    """
    if not path.is_file():
        raise DataMissing(f"{path} does not exist. Install the task's file there.")
    records = read_json(path)
    if not isinstance(records, list):
        raise SuiteInvalid(f"{path}: a JSON list of records is expected, not {type(records).__name__}.")
    if not records:
        raise SuiteInvalid(f"{path}: the list has no records.")
    return records


class _Builder:
    """Collects records into numbered distinct inputs."""

    def __init__(self, hashes: FileHashes, check: Callable[[EmbeddingInput], None]) -> None:
        self._hashes = hashes
        self._check = check
        self._numbers: dict[str, int] = {}
        self._inputs: list[EmbeddingInput] = []
        self._records: list[int] = []
        self._queries: list[tuple[int, tuple[str, ...]]] = []
        self._pools: list[tuple[int, ...]] = []
        self._places: dict[int, tuple[int, int]] = {}

    def add(self, number: int, record: ParsedRecord, *, where: str) -> None:
        try:
            for source in (record.query, *record.candidates):
                self._check(source)
            query = self._number(record.query)
            own_copies = tuple(content_key(copy, self._hashes) for copy in _own_copies(record.query))
            candidates = [self._number(candidate) for candidate in record.candidates]
        except InputUnreadable as error:
            raise type(error)(f"{where}: {error.message}") from error
        self._records.append(number)
        self._queries.append((query, own_copies))
        self._pools.append(tuple(dict.fromkeys(candidates)))
        for place, candidate in enumerate(candidates):
            self._places.setdefault(candidate, (number, place))

    def task(self, spec: TaskSpec, *, where: str, report: Callable[[int, EvaluationError], None]) -> RetrievalTask:
        everything = tuple(dict.fromkeys(number for pool in self._pools for number in pool))
        everything_set = frozenset(everything)
        queries = []
        for record, (query, own_copies), own_pool in zip(self._records, self._queries, self._pools, strict=True):
            pool = everything if spec.pool is PoolScope.GLOBAL else own_pool
            members = everything_set if spec.pool is PoolScope.GLOBAL else frozenset(own_pool)
            relevant = own_pool[0]
            excluded = self._excluded(own_copies, members=members, relevant=relevant)
            if len(pool) - (excluded is not None) < _SMALLEST_POOL:
                problem = "every candidate equals the relevant one or the query, so there is nothing to rank"
                advice = "Give it other candidates or remove the record"
                report(record, RecordInvalid(f"{where}: record {record}: {problem}. {advice}."))
                continue
            queries.append(
                RetrievalQuery(record=record, query=query, pool=pool, relevant=frozenset({relevant}), excluded=excluded)
            )
        keys = tuple(self._numbers)
        return RetrievalTask(
            spec=spec,
            inputs=tuple(self._inputs),
            keys=keys,
            queries=tuple(queries),
            places=self._places,
            data_sha256=_data_sha256(queries, keys),
        )

    def _number(self, source: EmbeddingInput) -> int:
        key = content_key(source, self._hashes)
        number = self._numbers.setdefault(key, len(self._inputs))
        if number == len(self._inputs):
            self._inputs.append(source)
        return number

    def _excluded(self, own_copies: Sequence[str], *, members: frozenset[int], relevant: int) -> int | None:
        for key in own_copies:
            number = self._numbers.get(key)
            if number in members:
                return None if number == relevant else number
        return None


def _own_copies(query: EmbeddingInput) -> tuple[EmbeddingInput, ...]:
    """What a candidate would be that is the query itself, the fullest first."""
    evidence = replace(query, instruction="")
    return (evidence, replace(evidence, text="")) if query.text and query.images else (evidence,)


def _data_sha256(queries: Sequence[RetrievalQuery], keys: Sequence[str]) -> str:
    """Covers the content of every query, pool and relevance judgement, but no file name."""
    digest = hashlib.sha256()
    shared: tuple[int, ...] | None = None
    for query in queries:
        pool = None if query.pool is shared else [keys[number] for number in query.pool]
        shared = query.pool
        excluded = None if query.excluded is None else keys[query.excluded]
        line = [keys[query.query], pool, sorted(keys[number] for number in query.relevant), excluded]
        digest.update(json.dumps(line).encode("ascii") + b"\n")
    return digest.hexdigest()

"""The lock file of an installed suite: which revision it is of, and what was found when its tasks were read.

`suite.lock.json` holds one JSON object: `schema_version` (1), `suite`, `source`, `revision` (a commit, or "" where
nobody said), `installed_at`, and `tasks`, which maps names to what `TaskReadiness` says.
"""

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.errors import SuiteInvalid
from evaluation.json_fields import read_json
from evaluation.suites.medheb.readiness import FileState, Readiness, RecordProblem, TaskReadiness

LOCK_NAME = "suite.lock.json"
_SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class SuiteLock:
    """What is known of an installed suite. `installed_at` is an ISO time in UTC, "" before the first installation."""

    suite: str
    source: str = ""
    revision: str = ""
    installed_at: str = ""
    tasks: Mapping[str, TaskReadiness] = field(default_factory=dict)


def read_lock(folder: Path, *, suite: str) -> SuiteLock:
    """The lock of the suite in a folder, or an empty one where there is none.

    Raises:
        SuiteInvalid: the lock file is damaged or of another suite.
    """
    path = folder / LOCK_NAME
    if not path.exists():
        return SuiteLock(suite=suite)
    document = read_json(path)
    try:
        return _lock_from_json(document, suite)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SuiteInvalid(
            f"{path} cannot be used: {error}. Remove it and look at the suite's status again."
        ) from error


def _lock_from_json(document: Any, suite: str) -> SuiteLock:
    if document["schema_version"] != _SCHEMA_VERSION or document["suite"] != suite:
        raise ValueError("it is of another suite or another version of this program")
    return SuiteLock(
        suite=suite,
        source=str(document["source"]),
        revision=str(document["revision"]),
        installed_at=str(document["installed_at"]),
        tasks={name: _readiness_from_json(name, value) for name, value in document["tasks"].items()},
    )


def write_lock(folder: Path, lock: SuiteLock) -> Path:
    """Write the lock file in one step, so that nobody ever reads half of it, and return its path.

    Raises:
        OSError: the folder cannot be written to.
    """
    path = folder / LOCK_NAME
    document = {"schema_version": _SCHEMA_VERSION, **dataclasses.asdict(lock)}
    renewed = path.with_name(f".{LOCK_NAME}.{os.getpid()}")
    with renewed.open("w", encoding="utf-8") as stream:
        json.dump(document, stream, indent=1, ensure_ascii=False)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    renewed.replace(path)
    return path


def _readiness_from_json(name: str, value: Any) -> TaskReadiness:
    fields = dict(value)
    if fields.pop("task") != name:
        raise ValueError(f"the entry of {name} is of another task")
    state, file = Readiness(fields.pop("state")), fields.pop("file")
    problems = tuple(RecordProblem(**problem) for problem in fields.pop("problems"))
    return TaskReadiness(
        task=name,
        state=state,
        file=None if file is None else FileState(**file),
        problems=problems,
        **fields,
    )

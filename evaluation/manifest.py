"""The JSON form of suites and tasks: `suite.json`, and the hashes that identify what was evaluated.

A manifest is one JSON object with exactly the keys `schema_version` (1), `slug`, `version`, `title`, `synthetic` and
`tasks`, a list of objects with exactly the fields of `TaskSpec`. Unknown and missing keys are refused.
"""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from evaluation.errors import SuiteInvalid
from evaluation.probe_types import ProbeTaskSpec
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import Domain, EvidenceForm, Family, Granularity, PairingType, Parser, PoolScope, Split

MANIFEST_NAME = "suite.json"
SCHEMA_VERSION = 1

_TEXTS = ("title", "relevance_rule", "group", "licence", "notes")
_ENUMS: Mapping[str, type[StrEnum]] = {
    "family": Family,
    "domain": Domain,
    "evidence_form": EvidenceForm,
    "pairing_type": PairingType,
    "granularity": Granularity,
    "split": Split,
    "pool": PoolScope,
    "parser": Parser,
}
_SUITE_KEYS = ("slug", "version", "title", "synthetic", "tasks")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TASK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

_Value = TypeVar("_Value")


def task_to_json(spec: TaskSpec) -> dict[str, Any]:
    """A task's declaration as JSON values, in the order of its fields."""
    return {**dataclasses.asdict(spec), "datasets": list(spec.datasets)}


def suite_to_json(suite: SuiteSpec) -> dict[str, Any]:
    """A suite as the content of its manifest."""
    return {
        "schema_version": SCHEMA_VERSION,
        "slug": suite.slug,
        "version": suite.version,
        "title": suite.title,
        "synthetic": suite.synthetic,
        "tasks": [task_to_json(spec) for spec in suite.tasks],
    }


def spec_sha256(spec: TaskSpec | ProbeTaskSpec) -> str:
    """64 hexadecimal digits that cover every field of a task's declaration."""
    return canonical_sha256(dataclasses.asdict(spec))


def suite_sha256(suite: SuiteSpec) -> str:
    """64 hexadecimal digits that cover the whole manifest of a suite."""
    return canonical_sha256(suite_to_json(suite))


def canonical_sha256(value: Any) -> str:
    """The sha256 of a JSON value written with sorted keys and no spaces."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def write_manifest(folder: Path, suite: SuiteSpec) -> Path:
    """Write `suite.json` into a suite's folder and return its path; equal suites give equal bytes."""
    path = folder / MANIFEST_NAME
    path.write_text(json.dumps(suite_to_json(suite), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def read_manifest(path: Path) -> SuiteSpec:
    """Read a manifest.

    Raises:
        SuiteInvalid: the file cannot be read or breaks the format; the message names file and field.
    """
    return suite_from_json(read_json(path), where=str(path))


def read_json(path: Path) -> Any:
    """Read a JSON file of a suite.

    Raises:
        SuiteInvalid: the file is missing, is not UTF-8, is not JSON, or an object of it has a key twice.
    """
    try:
        return json.loads(
            path.read_bytes().decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_without_twins
        )
    except OSError as error:
        raise SuiteInvalid(f"{path} cannot be read: {error.strerror}. Install the suite again.") from error
    except UnicodeDecodeError as error:
        raise SuiteInvalid(f"{path} is not UTF-8 at byte {error.start}. Save it as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise SuiteInvalid(f"{path} is not JSON: {error}. Correct or replace the file.") from error


def suite_from_json(value: Any, *, where: str) -> SuiteSpec:
    """Check the content of a manifest and turn it into a suite; `where` names it in messages.

    Raises:
        SuiteInvalid: a key is unknown, missing or of the wrong type, or two tasks share a name.
    """
    fields = _object(value, ("schema_version", *_SUITE_KEYS), where=where)
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SuiteInvalid(
            f"{where}: schema_version is {fields['schema_version']!r}; this program reads {SCHEMA_VERSION}."
        )
    slug = _typed(fields["slug"], str, where=f"{where}: slug")
    if not _SLUG.fullmatch(slug):
        raise SuiteInvalid(f"{where}: slug {slug!r} may have lower-case letters, digits and single hyphens only.")
    tasks = _typed(fields["tasks"], list, where=f"{where}: tasks")
    specs = tuple(task_from_json(task, where=f"{where}: task {number}") for number, task in enumerate(tasks))
    _check_names(specs, where=where)
    return SuiteSpec(
        slug=slug,
        version=_filled(fields["version"], where=f"{where}: version"),
        title=_filled(fields["title"], where=f"{where}: title"),
        synthetic=_typed(fields["synthetic"], bool, where=f"{where}: synthetic"),
        tasks=specs,
    )


def task_from_json(value: Any, *, where: str) -> TaskSpec:
    """Check one task of a manifest.

    Raises:
        SuiteInvalid: a key is unknown, missing, of the wrong type or not in its closed list.
    """
    fields = _object(value, tuple(field.name for field in dataclasses.fields(TaskSpec)), where=where)
    name = _filled(fields["name"], where=f"{where}: name")
    if not _TASK_NAME.fullmatch(name):
        raise SuiteInvalid(f"{where}: name {name!r} may have letters, digits, dots, hyphens and underscores only.")
    datasets = _typed(fields["datasets"], list, where=f"{where}: datasets")
    return TaskSpec(
        name=name,
        datasets=tuple(_filled(dataset, where=f"{where}: datasets") for dataset in datasets),
        image_root=_relative(fields["image_root"], where=f"{where}: image_root"),
        data_path=_relative(_filled(fields["data_path"], where=f"{where}: data_path"), where=f"{where}: data_path"),
        images_may_be_shown=_typed(fields["images_may_be_shown"], bool, where=f"{where}: images_may_be_shown"),
        **_words(fields, where=where),
    )


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [key for key, _ in pairs]
        twin = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"the key {twin[:80]!r} stands twice in one object")
    return fields


def _object(value: Any, keys: tuple[str, ...], *, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SuiteInvalid(f"{where}: a JSON object is expected, not {type(value).__name__}.")
    unknown = sorted(set(value) - set(keys))
    missing = sorted(set(keys) - set(value))
    if unknown or missing:
        problems = [f"unknown key {key!r}" for key in unknown] + [f"missing key {key!r}" for key in missing]
        raise SuiteInvalid(f"{where}: {', '.join(problems)}.")
    return value


def _typed(value: Any, kind: type[_Value], *, where: str) -> _Value:
    if not isinstance(value, kind):
        raise SuiteInvalid(f"{where}: {kind.__name__} is expected, not {type(value).__name__}.")
    return value


def _filled(value: Any, *, where: str) -> str:
    text = _typed(value, str, where=where)
    if not text.strip():
        raise SuiteInvalid(f"{where}: the text is empty.")
    return text


def _words(fields: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """The fields that are plain texts or members of a closed list."""
    texts: dict[str, Any] = {key: _typed(fields[key], str, where=f"{where}: {key}") for key in _TEXTS}
    return texts | {key: _member(members, fields[key], where=f"{where}: {key}") for key, members in _ENUMS.items()}


def _member(words: type[StrEnum], value: Any, *, where: str) -> Any:
    try:
        return words(value)
    except ValueError as error:
        raise SuiteInvalid(f"{where}: {value!r} is none of {', '.join(words)}.") from error


def _relative(value: Any, *, where: str) -> str:
    text = _typed(value, str, where=where)
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or "\0" in text:
        raise SuiteInvalid(f"{where}: {text!r} must be a path inside the suite's folder, without '..'.")
    return text


def _check_names(specs: tuple[TaskSpec, ...], *, where: str) -> None:
    seen = set()
    for spec in specs:
        if spec.name in seen:
            raise SuiteInvalid(f"{where}: two tasks are called {spec.name!r}.")
        seen.add(spec.name)

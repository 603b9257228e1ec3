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
from pathlib import Path
from typing import Any

from evaluation.errors import SuiteInvalid
from evaluation.json_fields import filled, json_object, member, read_json, relative_path, require_distinct, typed
from evaluation.probe_types import ProbeTaskSpec
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import (
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    Parser,
    PoolScope,
    Split,
    SuiteKind,
)

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
SUITE_KEYS = ("slug", "version", "title", "synthetic", "tasks")
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TASK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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


def suite_from_json(value: Any, *, where: str) -> SuiteSpec:
    """Check the content of a manifest and turn it into a suite; `where` names it in messages.

    Raises:
        SuiteInvalid: a key is unknown, missing or of the wrong type, or two tasks share a name.
    """
    if isinstance(value, dict) and value.get("kind") == SuiteKind.PROBING:
        raise SuiteInvalid(f"{where} declares a probing suite, not retrieval tasks. Name the folder of a MedHEB suite.")
    fields = json_object(value, ("schema_version", *SUITE_KEYS), where=where)
    check_suite_head(fields, where=where)
    tasks = typed(fields["tasks"], list, where=f"{where}: tasks")
    specs = tuple(task_from_json(task, where=f"{where}: task {number}") for number, task in enumerate(tasks))
    require_distinct((spec.name for spec in specs), where=where)
    return SuiteSpec(
        slug=fields["slug"],
        version=fields["version"],
        title=fields["title"],
        synthetic=fields["synthetic"],
        tasks=specs,
    )


def check_suite_head(fields: Mapping[str, Any], *, where: str) -> None:
    """Check what the manifests of all kinds of suite share: schema version, slug, version, title, synthetic.

    Raises:
        SuiteInvalid: one of them is not what the format asks for.
    """
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SuiteInvalid(
            f"{where}: schema_version is {fields['schema_version']!r}; this program reads {SCHEMA_VERSION}."
        )
    slug = typed(fields["slug"], str, where=f"{where}: slug")
    if not _SLUG.fullmatch(slug):
        raise SuiteInvalid(f"{where}: slug {slug!r} may have lower-case letters, digits and single hyphens only.")
    filled(fields["version"], where=f"{where}: version")
    filled(fields["title"], where=f"{where}: title")
    typed(fields["synthetic"], bool, where=f"{where}: synthetic")


def suite_kind(folder: Path) -> SuiteKind:
    """What kind of suite a folder holds, by its manifest alone.

    Raises:
        SuiteInvalid: there is no manifest, or it names a kind that this program does not know.
    """
    path = folder / MANIFEST_NAME
    value = read_json(path)
    if not isinstance(value, dict):
        raise SuiteInvalid(f"{path}: a JSON object is expected, not {type(value).__name__}.")
    # The manifests of retrieval suites say nothing of their kind.
    return member(SuiteKind, value.get("kind", SuiteKind.RETRIEVAL), where=f"{path}: kind")


def task_from_json(value: Any, *, where: str) -> TaskSpec:
    """Check one task of a manifest.

    Raises:
        SuiteInvalid: a key is unknown, missing, of the wrong type or not in its closed list.
    """
    fields = json_object(value, tuple(field.name for field in dataclasses.fields(TaskSpec)), where=where)
    name = filled(fields["name"], where=f"{where}: name")
    if not _TASK_NAME.fullmatch(name):
        raise SuiteInvalid(f"{where}: name {name!r} may have letters, digits, dots, hyphens and underscores only.")
    datasets = typed(fields["datasets"], list, where=f"{where}: datasets")
    return TaskSpec(
        name=name,
        datasets=tuple(filled(dataset, where=f"{where}: datasets") for dataset in datasets),
        image_root=relative_path(fields["image_root"], where=f"{where}: image_root"),
        data_path=relative_path(filled(fields["data_path"], where=f"{where}: data_path"), where=f"{where}: data_path"),
        images_may_be_shown=typed(fields["images_may_be_shown"], bool, where=f"{where}: images_may_be_shown"),
        **_words(fields, where=where),
    )


def _words(fields: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """The fields that are plain texts or members of a closed list."""
    texts: dict[str, Any] = {key: typed(fields[key], str, where=f"{where}: {key}") for key in _TEXTS}
    return texts | {key: member(members, fields[key], where=f"{where}: {key}") for key, members in _ENUMS.items()}

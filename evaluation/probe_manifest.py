"""The JSON form of a probing suite and its tasks, and the hash that identifies a task.

The manifest has the same name and head as that of a retrieval suite, and `kind`, which is `probing`. `tasks` are
objects with exactly the fields of `ProbeTaskSpec`.
"""

import dataclasses
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from evaluation.errors import SuiteInvalid
from evaluation.json_fields import filled, json_object, member, read_json, relative_path, require_distinct, typed
from evaluation.manifest import SCHEMA_VERSION, SUITE_KEYS, canonical_sha256, check_suite_head
from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskSpec
from evaluation.vocabulary import (
    AnchorSelection,
    Level,
    Modality,
    NegationSubtype,
    PhrasingStyle,
    ProbeTaskKind,
    SuiteKind,
)

_TASK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")

_Member = TypeVar("_Member", bound=StrEnum)


def probe_task_to_json(spec: ProbeTaskSpec) -> dict[str, Any]:
    """A task's declaration as JSON values, in the order of its fields."""
    return dataclasses.asdict(spec)


def probe_spec_sha256(spec: ProbeTaskSpec) -> str:
    """64 hexadecimal digits that cover every field of a task's declaration."""
    return canonical_sha256(probe_task_to_json(spec))


def probe_suite_to_json(suite: ProbeSuiteSpec) -> dict[str, Any]:
    """A probing suite as the content of its manifest."""
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": SuiteKind.PROBING,
        "slug": suite.slug,
        "version": suite.version,
        "title": suite.title,
        "synthetic": suite.synthetic,
        "tasks": [probe_task_to_json(spec) for spec in suite.tasks],
    }


def probe_suite_sha256(suite: ProbeSuiteSpec) -> str:
    """64 hexadecimal digits that cover the whole manifest of a probing suite."""
    return canonical_sha256(probe_suite_to_json(suite))


def read_probe_manifest(path: Path) -> ProbeSuiteSpec:
    """Read the manifest of a probing suite.

    Raises:
        SuiteInvalid: the file cannot be read or breaks the format; the message names file and field.
    """
    return probe_suite_from_json(read_json(path), where=str(path))


def probe_suite_from_json(value: Any, *, where: str) -> ProbeSuiteSpec:
    """Check the content of a manifest and turn it into a suite; `where` names it in messages.

    Raises:
        SuiteInvalid: it is of another kind, a key is unknown, missing or of the wrong type, or two tasks share a name.
    """
    if isinstance(value, dict) and value.get("kind", SuiteKind.RETRIEVAL) != SuiteKind.PROBING:
        raise SuiteInvalid(f"{where} declares no probing suite. Name the folder of a MedTEC suite.")
    fields = json_object(value, ("schema_version", "kind", *SUITE_KEYS), where=where)
    check_suite_head(fields, where=where)
    tasks = typed(fields["tasks"], list, where=f"{where}: tasks")
    specs = tuple(probe_task_from_json(task, where=f"{where}: task {number}") for number, task in enumerate(tasks))
    require_distinct((spec.name for spec in specs), where=where)
    return ProbeSuiteSpec(
        slug=fields["slug"],
        version=fields["version"],
        title=fields["title"],
        synthetic=fields["synthetic"],
        tasks=specs,
    )


def probe_task_from_json(value: Any, *, where: str) -> ProbeTaskSpec:
    """Check one task of a manifest.

    Raises:
        SuiteInvalid: a key is unknown, missing, of the wrong type or not in its closed list, or fields contradict.
    """
    fields = json_object(value, tuple(field.name for field in dataclasses.fields(ProbeTaskSpec)), where=where)
    name = filled(fields["name"], where=f"{where}: name")
    if not _TASK_NAME.fullmatch(name):
        raise SuiteInvalid(f"{where}: name {name!r} may have letters, digits, dots, hyphens, underscores and @ only.")
    spec = ProbeTaskSpec(
        name=name,
        title=filled(fields["title"], where=f"{where}: title"),
        kind=member(ProbeTaskKind, fields["kind"], where=f"{where}: kind"),
        modality=_optional(Modality, fields, "modality", where=where),
        level=_optional(Level, fields, "level", where=where),
        style=_optional(PhrasingStyle, fields, "style", where=where),
        subtype=_optional(NegationSubtype, fields, "subtype", where=where),
        selection=member(AnchorSelection, fields["selection"], where=f"{where}: selection"),
        dataset=filled(fields["dataset"], where=f"{where}: dataset"),
        data_path=relative_path(filled(fields["data_path"], where=f"{where}: data_path"), where=f"{where}: data_path"),
        probes_sha256=typed(fields["probes_sha256"], str, where=f"{where}: probes_sha256"),
        licence=typed(fields["licence"], str, where=f"{where}: licence"),
        images_may_be_shown=typed(fields["images_may_be_shown"], bool, where=f"{where}: images_may_be_shown"),
        notes=typed(fields["notes"], str, where=f"{where}: notes"),
    )
    _check_kind(spec, where=where)
    return spec


def _optional(words: type[_Member], fields: Mapping[str, Any], key: str, *, where: str) -> _Member | None:
    value = fields[key]
    return None if value is None else member(words, value, where=f"{where}: {key}")


def _check_kind(spec: ProbeTaskSpec, *, where: str) -> None:
    """A cell has modality, level, style and probes; a task of another kind has none of the last three."""
    if spec.kind is ProbeTaskKind.CELL:
        if spec.modality is None or spec.level is None or spec.style is None:
            raise SuiteInvalid(f"{where}: a cell needs modality, level and style; {spec.name} lacks one.")
        if not _SHA256.fullmatch(spec.probes_sha256):
            raise SuiteInvalid(f"{where}: probes_sha256 must be 64 hexadecimal digits; build the suite again.")
        if (spec.subtype is not None) != (spec.level is Level.L5):
            raise SuiteInvalid(f"{where}: a negation subtype is given at L5 and nowhere else; {spec.name} breaks this.")
    elif (spec.level, spec.style, spec.subtype, spec.probes_sha256) != (None, None, None, ""):
        raise SuiteInvalid(
            f"{where}: {spec.name} is a task of {spec.kind}, so it has no level, style, subtype or probes."
        )

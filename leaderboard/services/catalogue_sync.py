"""Puts suites and their tasks into the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from leaderboard.exceptions import ApplicationError
from leaderboard.models import Suite, Task
from leaderboard.models.vocabulary import SuiteKind, TaskKind


@dataclass(frozen=True, slots=True)
class TaskDeclaration:
    """A task as a suite declares it; columns that its kind does not have are left empty.

    `n_queries` is set where its data can be evaluated, and `chance` where the kind has a chance level that is known
    before a run; where they cannot, `unavailable_reason` may say why.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    data_group: str
    licence: str
    images_may_be_shown: bool
    notes: str
    spec_sha256: str
    kind: str = TaskKind.RETRIEVAL
    family: str = ""
    domain: str = ""
    evidence_form: str = ""
    pairing_type: str = ""
    granularity: str = ""
    split: str = ""
    pool: str = ""
    parser: str = ""
    group: str = ""
    relevance_rule: str = ""
    modality: str = ""
    level: str = ""
    style: str = ""
    subtype: str = ""
    selection: str = ""
    example_probes: Sequence[Mapping[str, Any]] = ()
    data_facts: Mapping[str, Any] = field(default_factory=dict)
    n_queries: int | None = None
    chance: float | None = None
    unavailable_reason: str = ""


class SuiteChanged(ApplicationError):
    """A task's declaration differs from the stored one of the same suite version."""

    code = "suite_changed"


@transaction.atomic
def suite_sync(
    *,
    slug: str,
    version: str,
    title: str,
    synthetic: bool,
    tasks: Sequence[TaskDeclaration],
    kind: SuiteKind = SuiteKind.RETRIEVAL,
) -> Suite:
    """Store a suite, or bring what is known of its data up to date, and make this version the live one.

    Raises:
        SuiteChanged: a task changed within a version. Scores would silently mean something else: give a new version.
    """
    Suite.objects.filter(slug=slug).exclude(version=version).update(is_live=False)
    suite, _ = Suite.objects.update_or_create(
        slug=slug, version=version, defaults={"title": title, "synthetic": synthetic, "is_live": True, "kind": kind}
    )
    stored = {task.name: task for task in suite.tasks.all()}
    _refuse_changes(suite, stored, tasks)
    for position, declaration in enumerate(tasks):
        _task_sync(suite, position, declaration)
    return suite


def _refuse_changes(suite: Suite, stored: dict[str, Task], tasks: Sequence[TaskDeclaration]) -> None:
    if not stored:
        return
    declared = {task.name: task for task in tasks}
    changed = [
        name for name, task in declared.items() if name not in stored or stored[name].spec_sha256 != task.spec_sha256
    ]
    changed += [name for name in stored if name not in declared]
    if changed:
        raise SuiteChanged(
            f"Suite {suite} is stored with other declarations of {', '.join(sorted(changed)[:5])}"
            f" ({len(changed)} in all). Give the changed suite a new version."
        )


def _task_sync(suite: Suite, position: int, declaration: TaskDeclaration) -> None:
    facts = {name: getattr(declaration, name) for name in TaskDeclaration.__slots__ if name != "name"}
    facts["datasets"] = list(declaration.datasets)
    facts["example_probes"] = list(declaration.example_probes)
    facts["data_facts"] = dict(declaration.data_facts)
    facts["is_installed"] = declaration.n_queries is not None
    Task.objects.update_or_create(suite=suite, name=declaration.name, defaults={**facts, "position": position})

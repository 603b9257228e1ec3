"""Reads suites and tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from leaderboard.models import Score, Suite, Task
from leaderboard.models.vocabulary import SuiteKind

LISTED = Q(is_published=True, revision__model__owner_opted_out=False)
"""Which runs stand on the boards: published ones whose owner does not object."""

LISTED_SCORE = Q(is_main=True, task_run__run__is_published=True, task_run__run__revision__model__owner_opted_out=False)


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """A live suite and what there is of it.

    `families`, `domains` and `modalities` count tasks by group, awaiting data or not; retrieval suites have the first
    two, probing suites the last.
    """

    pk: int
    slug: str
    version: str
    title: str
    kind: str
    synthetic: bool
    n_published: int
    last_published_at: datetime | None
    n_tasks: int = 0
    n_installed: int = 0
    families: Mapping[str, int] = field(default_factory=dict)
    domains: Mapping[str, int] = field(default_factory=dict)
    modalities: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_awaiting(self) -> int:
        """Tasks whose data no worker has."""
        return self.n_tasks - self.n_installed


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """A task in a list, with the best published value of its main metric; groups that its kind lacks are empty."""

    name: str
    title: str
    suite_slug: str
    is_synthetic: bool
    kind: str
    family: str
    domain: str
    evidence_form: str
    split: str
    pool: str
    modality: str
    level: str
    n_queries: int | None
    chance: float | None
    is_installed: bool
    n_models: int
    best: float | None


def live_suites(kind: SuiteKind | None = None) -> tuple[SuiteSummary, ...]:
    """Every live suite, or those of a kind: the one with most published runs first, real before synthetic ones.

    Two queries.
    """
    listed = Q(runs__is_published=True, runs__revision__model__owner_opted_out=False)
    suites = (
        Suite.objects.filter(Q(kind=kind) if kind else Q(), is_live=True)
        .annotate(n_published=Count("runs", filter=listed), last_published_at=Max("runs__published_at", filter=listed))
        .order_by("-n_published", "synthetic", "slug")
    )
    groups = list(
        Task.objects.filter(suite__is_live=True)
        .order_by()
        .values("suite_id", "family", "domain", "modality", "is_installed")
        .annotate(n=Count("pk"))
    )
    return tuple(_summary(suite, [group for group in groups if group["suite_id"] == suite.pk]) for suite in suites)


def _summary(suite: Suite, groups: Sequence[Mapping[str, Any]]) -> SuiteSummary:
    return SuiteSummary(
        pk=suite.pk,
        slug=suite.slug,
        version=suite.version,
        title=suite.title,
        kind=suite.kind,
        synthetic=suite.synthetic,
        n_published=suite.n_published,
        last_published_at=suite.last_published_at,
        n_tasks=sum(group["n"] for group in groups),
        n_installed=sum(group["n"] for group in groups if group["is_installed"]),
        families=_counted(groups, "family"),
        domains=_counted(groups, "domain"),
        modalities=_counted(groups, "modality"),
    )


def _counted(groups: Sequence[Mapping[str, Any]], column: str) -> dict[str, int]:
    """How many tasks have each value of a column; those that the column is not for do not count."""
    found: dict[str, int] = {}
    for group in groups:
        if group[column]:
            found[group[column]] = found.get(group[column], 0) + group["n"]
    return found


def live_tasks() -> QuerySet[Task]:
    """The tasks of all live suites, in the suites' order."""
    return Task.objects.filter(suite__is_live=True).select_related("suite").order_by("suite__slug", "position")


def task_summaries(tasks: QuerySet[Task]) -> tuple[TaskSummary, ...]:
    """The tasks of a queryset of `live_tasks`, each with its best published result. Two queries."""
    found = list(tasks)
    best = {
        task: (count, value)
        for task, count, value in Score.objects.filter(LISTED_SCORE, task_run__task__in=[task.pk for task in found])
        .order_by()
        .values_list("task_run__task")
        .annotate(count=Count("pk"), value=Max("value"))
    }
    return tuple(
        TaskSummary(
            name=task.name,
            title=task.title,
            suite_slug=task.suite.slug,
            is_synthetic=task.suite.synthetic,
            kind=task.kind,
            family=task.family,
            domain=task.domain,
            evidence_form=task.evidence_form,
            split=task.split,
            pool=task.pool,
            modality=task.modality,
            level=task.level,
            n_queries=task.n_queries,
            chance=task.chance,
            is_installed=task.is_installed,
            n_models=best.get(task.pk, (0, None))[0],
            best=best.get(task.pk, (0, None))[1],
        )
        for task in found
    )


def live_task(*, suite: str, name: str) -> Task | None:
    """One task of a live suite. One query."""
    return live_tasks().filter(suite__slug=suite, name=name).first()

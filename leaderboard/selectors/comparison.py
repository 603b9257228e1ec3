"""Sets a new result beside the published one, for the person who decides which of them stands on the boards."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, QuerySet, Subquery

from leaderboard.models import AggregateScore, Run, RunComparison, Score, Task, TaskRun
from leaderboard.models.vocabulary import (
    AggregateScope,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    ReleaseGroup,
    RunState,
    Split,
    SuiteKind,
)

TITLES: dict[tuple[str, str], str] = {
    (scope, value): str(label)
    for scope, choices in (
        (AggregateScope.FAMILY, Family),
        (AggregateScope.DOMAIN, Domain),
        (AggregateScope.EVIDENCE_FORM, EvidenceForm),
        (AggregateScope.PAIRING_TYPE, PairingType),
        (AggregateScope.GRANULARITY, Granularity),
        (AggregateScope.SPLIT, Split),
        (AggregateScope.RELEASE_GROUP, ReleaseGroup),
    )
    for value, label in choices.choices
}
TASK_SCOPE = "task"
MEASURED_ANEW = "Tasks measured anew"
PAIRED_METRIC = "hit@1"
COMPARED_METRICS = ("hit@1", "cv")
SCOPE_ORDER = [scope.value for scope in AggregateScope]
KEY_ORDER = {place: number for number, place in enumerate(TITLES)}


@dataclass(frozen=True, slots=True)
class Side:
    """A mean in one of the two runs, and how many tasks it covers."""

    value: float
    n_tasks: int
    n_expected: int


@dataclass(frozen=True, slots=True)
class Paired:
    """New minus old, query by query or patient by patient, over the tasks that both runs have on the same data.

    The ends of the 95% interval are None where too little was observed.
    """

    value: float
    lower: float | None
    upper: float | None
    n_tasks: int

    @property
    def is_separated(self) -> bool:
        """Whether the interval excludes zero."""
        return self.lower is not None and self.upper is not None and (self.lower > 0 or self.upper < 0)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One mean, or one task's main metric, in both runs; a side is None where its run does not have it."""

    scope: str
    scope_title: str
    title: str
    metric: str
    old: Side | None
    new: Side | None
    paired: Paired | None = None

    @property
    def difference(self) -> float | None:
        """New minus old."""
        return self.new.value - self.old.value if self.old and self.new else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside the published run of the same revision and suite. The `published_` facts are None without one.

    `unpaired` are tasks that were measured on other data than before, `trouble` says why there are no intervals, and
    `is_waiting` whether a worker still has to compute them.
    """

    published_run_id: UUID | None
    published_attempt: int | None
    rows: tuple[ComparisonRow, ...]
    unpaired: tuple[str, ...] = ()
    trouble: str = ""
    is_waiting: bool = False


@dataclass(frozen=True, slots=True)
class Uncompared:
    """A finished rerun, and the published run that it has not been compared with yet."""

    run_id: UUID
    baseline_id: UUID
    suite_id: int


def unpublished_reruns() -> QuerySet[Run]:
    """The finished runs after a published one of the same revision and suite, each with its id as `baseline`."""
    published = Run.objects.filter(
        revision=OuterRef("revision"), suite=OuterRef("suite"), is_published=True, attempt__lt=OuterRef("attempt")
    )
    return (
        Run.objects.filter(state=RunState.SUCCEEDED, is_published=False)
        .annotate(baseline=Subquery(published.values("pk")[:1]))
        .filter(baseline__isnull=False)
    )


def runs_to_compare() -> list[Uncompared]:
    """The finished reruns that nobody has compared with the published run, the earliest finished first."""
    found = unpublished_reruns().exclude(comparison__baseline=F("baseline")).order_by("finished_at")
    return [Uncompared(*row) for row in found.values_list("pk", "baseline", "suite_id")]


def publication_comparison(run_id: UUID) -> Comparison:
    """What would change on the boards if this run were published.

    Raises:
        Run.DoesNotExist: there is no such run.
    """
    run = Run.objects.select_related("suite").get(pk=run_id)
    published = (
        Run.objects.only("attempt").filter(revision=run.revision_id, suite=run.suite_id, is_published=True).first()
    )
    stored = RunComparison.objects.filter(run=run, baseline=published).first() if published else None
    paired = {(row["scope"], row["key"]): paired_of(row) for row in stored.rows} if stored else {}
    sides = (run.pk, published.pk if published else None)
    if run.suite.kind == SuiteKind.PROBING:
        rows = _task_rows(*sides, paired)
    else:
        rows = (*_mean_rows(*sides, paired), *_task_rows(*sides, paired, measured_anew=True))
    return Comparison(
        published_run_id=published.pk if published else None,
        published_attempt=published.attempt if published else None,
        rows=rows,
        unpaired=tuple(stored.unpaired) if stored else (),
        trouble=stored.trouble if stored else "",
        is_waiting=published is not None and stored is None and published.attempt < run.attempt,
    )


def paired_of(row: Mapping[str, Any]) -> Paired:
    """A difference from a stored row of a comparison."""
    return Paired(row["value"], row["lower"], row["upper"], row["n_tasks"])


def _task_rows(
    run: UUID, published: UUID | None, paired: Mapping[tuple[str, str], Paired], *, measured_anew: bool = False
) -> tuple[ComparisonRow, ...]:
    """The main metric of every task, by modality; with `measured_anew` only of those that the new run did not carry over."""
    scores = (
        Score.objects.filter(task_run__run__in=_known(run, published), is_main=True)
        .select_related("task_run__task")
        .defer("task_run__outcomes", "task_run__first_ranked")
        .order_by("task_run__task__position")
    )
    sides: dict[Task, dict[UUID, tuple[str, Side]]] = {}
    for score in scores:
        side = (score.metric, Side(score.value, n_tasks=1, n_expected=1))
        sides.setdefault(score.task_run.task, {})[score.task_run.run_id] = side
    if measured_anew:
        own = set(TaskRun.objects.filter(run=run, carried_from__isnull=True).values_list("task", flat=True))
        sides = {task: by_run for task, by_run in sides.items() if run in by_run and task.pk in own}
    return tuple(
        ComparisonRow(
            scope=TASK_SCOPE,
            scope_title=str(
                task.get_modality_display() or (MEASURED_ANEW if measured_anew else task.get_kind_display())
            ),
            title=task.title,
            metric=next(iter(by_run.values()))[0],
            old=by_run[published][1] if published in by_run else None,
            new=by_run[run][1] if run in by_run else None,
            paired=paired.get((TASK_SCOPE, task.name)),
        )
        for task, by_run in sides.items()
    )


def _mean_rows(
    run: UUID, published: UUID | None, paired: Mapping[tuple[str, str], Paired]
) -> tuple[ComparisonRow, ...]:
    """The means of a retrieval run, overall and by group."""
    sides: dict[tuple[str, str, str], dict[UUID, Side]] = {}
    for aggregate in AggregateScore.objects.filter(run__in=_known(run, published), metric__in=COMPARED_METRICS):
        key = (aggregate.scope, aggregate.key, aggregate.metric)
        side = Side(aggregate.value, aggregate.n_tasks, aggregate.n_expected)
        sides.setdefault(key, {})[aggregate.run_id] = side
    return tuple(
        ComparisonRow(
            scope=scope,
            scope_title=str(AggregateScope(scope).label),
            title=TITLES.get((scope, key), "All families"),
            metric=metric,
            old=by_run.get(published) if published else None,
            new=by_run.get(run),
            paired=paired.get((scope, key)) if metric == PAIRED_METRIC else None,
        )
        for (scope, key, metric), by_run in sorted(sides.items(), key=lambda item: _order(*item[0]))
    )


def _known(*runs: UUID | None) -> list[UUID]:
    return [run for run in runs if run is not None]


def _order(scope: str, key: str, metric: str) -> tuple[int, int, int]:
    """Scopes and their groups as the vocabulary lists them."""
    return SCOPE_ORDER.index(scope), KEY_ORDER.get((scope, key), 0), COMPARED_METRICS.index(metric)

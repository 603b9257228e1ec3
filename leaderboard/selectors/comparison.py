"""Sets a new result beside the published one, for the person who decides which of them stands on the boards."""

from dataclasses import dataclass
from uuid import UUID

from leaderboard.models import AggregateScore, Run, Score, Task
from leaderboard.models.vocabulary import (
    AggregateScope,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    ReleaseGroup,
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
class ComparisonRow:
    """One mean, or one task's main metric, in both runs; a side is None where its run does not have it."""

    scope: str
    scope_title: str
    title: str
    metric: str
    old: Side | None
    new: Side | None

    @property
    def difference(self) -> float | None:
        """New minus old."""
        return self.new.value - self.old.value if self.old and self.new else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside the published run of the same revision and suite. The `published_` facts are None without one."""

    published_run_id: UUID | None
    published_attempt: int | None
    rows: tuple[ComparisonRow, ...]


def publication_comparison(run_id: UUID) -> Comparison:
    """What would change on the boards if this run were published.

    Raises:
        Run.DoesNotExist: there is no such run.
    """
    run = Run.objects.select_related("suite").get(pk=run_id)
    published = (
        Run.objects.only("attempt").filter(revision=run.revision_id, suite=run.suite_id, is_published=True).first()
    )
    rows_of = _task_rows if run.suite.kind == SuiteKind.PROBING else _mean_rows
    return Comparison(
        published_run_id=published.pk if published else None,
        published_attempt=published.attempt if published else None,
        rows=rows_of(run.pk, published.pk if published else None),
    )


def _task_rows(run: UUID, published: UUID | None) -> tuple[ComparisonRow, ...]:
    """The main metric of every task, by modality: what a probing suite has in the place of means."""
    scores = (
        Score.objects.filter(task_run__run__in=_known(run, published), is_main=True)
        .select_related("task_run__task")
        .defer("task_run__outcomes")
        .order_by("task_run__task__position")
    )
    sides: dict[Task, dict[UUID, tuple[str, Side]]] = {}
    for score in scores:
        side = (score.metric, Side(score.value, n_tasks=1, n_expected=1))
        sides.setdefault(score.task_run.task, {})[score.task_run.run_id] = side
    return tuple(
        ComparisonRow(
            scope=TASK_SCOPE,
            scope_title=str(task.get_modality_display() or task.get_kind_display()),
            title=task.title,
            metric=next(iter(by_run.values()))[0],
            old=by_run[published][1] if published in by_run else None,
            new=by_run[run][1] if run in by_run else None,
        )
        for task, by_run in sides.items()
    )


def _mean_rows(run: UUID, published: UUID | None) -> tuple[ComparisonRow, ...]:
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
        )
        for (scope, key, metric), by_run in sorted(sides.items(), key=lambda item: _order(*item[0]))
    )


def _known(*runs: UUID | None) -> list[UUID]:
    return [run for run in runs if run is not None]


def _order(scope: str, key: str, metric: str) -> tuple[int, int, int]:
    """Scopes and their groups as the vocabulary lists them."""
    return SCOPE_ORDER.index(scope), KEY_ORDER.get((scope, key), 0), COMPARED_METRICS.index(metric)

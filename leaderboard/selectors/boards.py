"""The boards: published runs of a suite, ranked at the moment of asking.

A row is complete when its run evaluated every task that the board's group has. Complete rows are ranked by the mean of
the group, equal means sharing a rank; the others are listed with their coverage and the reason.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Count, QuerySet

from leaderboard.models import AggregateScore, Run, Score, Task, TaskRun
from leaderboard.models.vocabulary import AggregateScope, TaskRunState
from leaderboard.selectors.catalogue import LISTED, SuiteSummary
from leaderboard.selectors.published import MAIN_METRIC, PublishedModel, TaskScore, published_model, task_score

EQUAL_DECIMALS = 9
"""Means that agree to this many decimals are equal: sums in another order differ in the last bits."""


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A mean over the evaluated tasks of a group, in [0, 1], with its 95% interval."""

    value: float
    lower: float | None
    upper: float | None
    n_tasks: int
    n_expected: int

    @property
    def is_complete(self) -> bool:
        """Whether every task of the group was evaluated."""
        return self.n_tasks == self.n_expected


@dataclass(frozen=True, slots=True)
class Missing:
    """Tasks that a run has no score for, by reason.

    `code` is the error's, the task run's state where it did not fail, or empty where the run never had them.
    """

    code: str
    n_tasks: int


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published run on a board.

    `rank` is None for an incomplete one. `groups` is by family on the overall board, `tasks` by task on the others.
    """

    model: PublishedModel
    rank: int | None
    mean: GroupScore | None
    cv: float | None
    n_tasks: int
    n_expected: int
    groups: Mapping[str, GroupScore] = field(default_factory=dict)
    tasks: Mapping[int, TaskScore] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()

    @property
    def adjusted(self) -> float | None:
        """Mean over the tasks of (hit - chance) / (1 - chance); only for a complete row."""
        if self.rank is None or not self.tasks:
            return None
        return sum(task.adjusted for task in self.tasks.values()) / len(self.tasks)


@dataclass(frozen=True, slots=True)
class BoardTask:
    """A column of a family or domain board."""

    pk: int
    name: str
    title: str
    chance: float | None
    n_queries: int | None
    is_installed: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A board: complete rows by rank, then incomplete ones by coverage.

    `chance` is the mean of the tasks' chance levels, taken as the board takes its scores (a mean of family means on
    the overall board).
    """

    suite: SuiteSummary
    scope: AggregateScope
    key: str
    rows: tuple[BoardRow, ...]
    tasks: tuple[BoardTask, ...] = ()
    chance: float | None = None
    group_chance: Mapping[str, float] = field(default_factory=dict)


def overall_board(suite: SuiteSummary) -> Board:
    """The board over all families. At most four queries."""
    tasks = list(Task.objects.filter(suite=suite.pk, is_installed=True).values_list("family", "chance"))
    chances: dict[str, list[float]] = {}
    for family, chance in tasks:
        chances.setdefault(family, []).append(chance)
    group_chance = {family: _mean(values) for family, values in chances.items()}
    runs = _runs(suite)
    rows = _rows(runs, scope=AggregateScope.OVERALL, key="", n_installed=len(tasks))
    return Board(
        suite=suite,
        scope=AggregateScope.OVERALL,
        key="",
        rows=rows,
        chance=_mean(group_chance.values()) if group_chance else None,
        group_chance=group_chance,
    )


def group_board(suite: SuiteSummary, *, scope: AggregateScope, key: str) -> Board:
    """The board of one family or domain, with a column a task. At most five queries."""
    tasks = tuple(
        BoardTask(task.pk, task.name, task.title, task.chance, task.n_queries, task.is_installed)
        for task in Task.objects.filter(suite=suite.pk, **{scope.value: key}).order_by("position")
    )
    installed = [task.chance for task in tasks if task.is_installed and task.chance is not None]
    runs = _runs(suite)
    rows = _rows(runs, scope=scope, key=key, n_installed=len(installed))
    return Board(
        suite=suite,
        scope=scope,
        key=key,
        rows=rows,
        tasks=tasks,
        chance=_mean(installed) if installed else None,
    )


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _runs(suite: SuiteSummary) -> list[Run]:
    return list(
        Run.objects.filter(LISTED, suite=suite.pk)
        .select_related("revision__model")
        .defer("environment", "model_description")
        .order_by("revision__model__repo_id", "revision_id")
    )


def _rows(runs: Sequence[Run], *, scope: AggregateScope, key: str, n_installed: int) -> tuple[BoardRow, ...]:
    is_overall = scope == AggregateScope.OVERALL
    aggregates = _aggregates(runs, scopes=(scope, AggregateScope.FAMILY) if is_overall else (scope,))
    means = {run.pk: aggregates.get((run.pk, scope.value, key, MAIN_METRIC)) for run in runs}
    n_expected = max([n_installed, *(mean.n_expected for mean in means.values() if mean)])
    complete = {pk: mean for pk, mean in means.items() if mean and mean.n_tasks == n_expected}
    ranks = competition_ranks({pk: mean.value for pk, mean in complete.items()})
    incomplete = [run.pk for run in runs if run.pk not in complete]
    missing = _missing(incomplete, scope=scope, key=key, n_expected=n_expected) if incomplete else {}
    families = _by_family(aggregates) if is_overall else {}
    tasks = {} if is_overall else _task_scores(runs, scope=scope, key=key)
    rows = []
    for run in runs:
        mean, cv = means[run.pk], aggregates.get((run.pk, scope.value, key, "cv"))
        rows.append(
            BoardRow(
                model=published_model(run),
                rank=ranks.get(run.pk),
                mean=mean,
                cv=cv.value if cv else None,
                n_tasks=mean.n_tasks if mean else 0,
                n_expected=n_expected,
                groups=families.get(run.pk, {}),
                tasks=tasks.get(run.pk, {}),
                missing=missing.get(run.pk, ()),
            )
        )
    return tuple(sorted(rows, key=_board_order))


def _board_order(row: BoardRow) -> tuple[bool, int, int, str, int]:
    return (row.rank is None, row.rank or 0, -row.n_tasks, row.model.repo_id.lower(), row.model.revision_id)


AggregateKey = tuple[UUID, str, str, str]


def _aggregates(runs: Sequence[Run], *, scopes: Sequence[AggregateScope]) -> dict[AggregateKey, GroupScore]:
    found = AggregateScore.objects.filter(run__in=[run.pk for run in runs], scope__in=scopes)
    return {
        (score.run_id, score.scope, score.key, score.metric): GroupScore(
            score.value, score.lower, score.upper, score.n_tasks, score.n_expected
        )
        for score in found
    }


def _by_family(aggregates: Mapping[AggregateKey, GroupScore]) -> dict[UUID, dict[str, GroupScore]]:
    found: dict[UUID, dict[str, GroupScore]] = {}
    for (run_id, scope, key, metric), score in aggregates.items():
        if scope == AggregateScope.FAMILY and metric == MAIN_METRIC:
            found.setdefault(run_id, {})[key] = score
    return found


def competition_ranks(values: Mapping[UUID, float]) -> dict[UUID, int]:
    """Rank 1 for the largest; equal values share a rank and the next one counts them all (1, 2, 2, 4)."""
    rounded = {key: round(value, EQUAL_DECIMALS) for key, value in values.items()}
    first_place: dict[float, int] = {}
    for place, value in enumerate(sorted(rounded.values(), reverse=True), start=1):
        first_place.setdefault(value, place)
    return {key: first_place[value] for key, value in rounded.items()}


def _in_scope(task_runs: QuerySet[TaskRun], scope: AggregateScope, key: str) -> QuerySet[TaskRun]:
    return task_runs if scope == AggregateScope.OVERALL else task_runs.filter(**{f"task__{scope.value}": key})


def _missing(
    run_ids: Sequence[UUID], *, scope: AggregateScope, key: str, n_expected: int
) -> dict[UUID, tuple[Missing, ...]]:
    """Why runs lack tasks: failures by code, and what a run never had because the data came later."""
    task_runs = _in_scope(TaskRun.objects.filter(run__in=run_ids), scope, key).order_by()
    counted = (
        task_runs.values_list("run_id", "state", "error_code").annotate(n=Count("pk")).order_by("-n", "error_code")
    )
    reasons: dict[UUID, list[Missing]] = {run_id: [] for run_id in run_ids}
    had = dict.fromkeys(run_ids, 0)
    for run_id, state, code, count in counted:
        had[run_id] += count
        if state != TaskRunState.SUCCEEDED:
            reasons[run_id].append(Missing(code or state, count))
    for run_id in run_ids:
        if had[run_id] < n_expected:
            reasons[run_id].append(Missing("", n_expected - had[run_id]))
    return {run_id: tuple(found) for run_id, found in reasons.items()}


def _task_scores(runs: Sequence[Run], *, scope: AggregateScope, key: str) -> dict[UUID, dict[int, TaskScore]]:
    scores = (
        Score.objects.filter(
            is_main=True, task_run__run__in=[run.pk for run in runs], **{f"task_run__task__{scope.value}": key}
        )
        .select_related("task_run")
        .defer("task_run__outcomes")
    )
    found: dict[UUID, dict[int, TaskScore]] = {}
    for score in scores:
        found.setdefault(score.task_run.run_id, {})[score.task_run.task_id] = task_score(score)
    return found

"""The boards: published runs of a suite with their means, ranks and the intervals of both.

A row is complete when its run evaluated every installed task of the board's group. Complete rows are ranked by the
mean of the group; the others are listed with their coverage and the reason. Means and ranks come from the suite's
statistics. While a worker computes these anew, ranks are by value, equal means sharing one, and have no intervals.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from leaderboard.models import AggregateScore, Run, Score, Task, TaskRun
from leaderboard.models.vocabulary import AggregateScope, Family, TaskRunState, release_groups
from leaderboard.selectors.catalogue import LISTED, SuiteSummary
from leaderboard.selectors.published import MAIN_METRIC, PublishedModel, TaskScore, published_model, task_score
from leaderboard.selectors.snapshots import Standing, SuiteStatistics, suite_statistics

EQUAL_DECIMALS = 9
"""Means that agree to this many decimals are equal: sums in another order differ in the last bits."""
OTHER_DATA = "other_data"
"""Why a task is missing from a row that has a score in it: most other runs were measured on other data."""


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

    `code` is the error's, the task run's state where it did not fail, `OTHER_DATA`, or empty where the run never had
    them.
    """

    code: str
    n_tasks: int


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published run on a board.

    `rank` is None for an incomplete one. `standing` is where the statistics place it, None while there are none.
    `groups` is by family on the overall board, `tasks` by task on the others.
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
    standing: Standing | None = None

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
    statistics: SuiteStatistics | None = None

    @property
    def has_rank_intervals(self) -> bool:
        """Whether statistics cover exactly what is published."""
        return self.statistics is not None and self.statistics.is_fresh


def overall_board(suite: SuiteSummary) -> Board:
    """The board over all families. At most five queries, without means as stored when statistics are fresh."""
    tasks = [task for task in _tasks(suite) if task.is_installed]
    chances: dict[str, list[float]] = {}
    for task in tasks:
        chances.setdefault(task.family, []).append(task.chance)
    group_chance = {family: _mean(values) for family, values in chances.items()}
    runs = _runs(suite)
    statistics = _statistics(suite, runs, tasks)
    place = _Place(AggregateScope.OVERALL, "", tuple(task.pk for task in tasks))
    return Board(
        suite=suite,
        scope=AggregateScope.OVERALL,
        key="",
        rows=_rows(runs, place, statistics),
        chance=_mean(group_chance.values()) if group_chance else None,
        group_chance=group_chance,
        statistics=statistics,
    )


def group_board(suite: SuiteSummary, *, scope: AggregateScope, key: str) -> Board:
    """The board of one group, with its tasks. At most six queries, without means as stored when statistics are fresh."""
    everything = _tasks(suite)
    members = [task for task in everything if key in _keys(task, scope)]
    installed = [task for task in members if task.is_installed]
    runs = _runs(suite)
    statistics = _statistics(suite, runs, [task for task in everything if task.is_installed])
    place = _Place(scope, key, tuple(task.pk for task in installed))
    return Board(
        suite=suite,
        scope=scope,
        key=key,
        rows=_rows(runs, place, statistics),
        tasks=tuple(
            BoardTask(task.pk, task.name, task.title, task.chance, task.n_queries, task.is_installed)
            for task in members
        ),
        chance=_mean(task.chance for task in installed) if installed else None,
        statistics=statistics,
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """A group and its installed tasks."""

    scope: AggregateScope
    key: str
    task_ids: tuple[int, ...]

    @property
    def is_overall(self) -> bool:
        return self.scope == AggregateScope.OVERALL


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _tasks(suite: SuiteSummary) -> list[Task]:
    return list(Task.objects.filter(suite=suite.pk).order_by("position"))


def _keys(task: Task, scope: AggregateScope) -> tuple[str, ...]:
    """The groups of a scope that a task belongs to."""
    if scope == AggregateScope.RELEASE_GROUP:
        return release_groups(evidence_form=task.evidence_form, split=task.split)
    return (getattr(task, scope.value),)


def _runs(suite: SuiteSummary) -> list[Run]:
    return list(
        Run.objects.filter(LISTED, suite=suite.pk)
        .select_related("revision__model")
        .defer("environment", "model_description")
        .order_by("revision__model__repo_id", "revision_id")
    )


def _statistics(suite: SuiteSummary, runs: Sequence[Run], tasks: Sequence[Task]) -> SuiteStatistics | None:
    return suite_statistics(suite.pk, run_ids=[run.pk for run in runs], tasks=[task.name for task in tasks])


def _rows(runs: Sequence[Run], place: _Place, statistics: SuiteStatistics | None) -> tuple[BoardRow, ...]:
    means = _GroupMeans(runs, place, statistics)
    ranks = means.ranks()
    incomplete = [run.pk for run in runs if run.pk not in ranks]
    missing = _missing(incomplete, place, statistics) if incomplete else {}
    tasks = {} if place.is_overall else _task_scores(runs, place)
    rows = [
        BoardRow(
            model=published_model(run),
            rank=ranks.get(run.pk),
            mean=(mean := means.mean(run.pk)),
            cv=means.cv(run.pk),
            n_tasks=mean.n_tasks if mean else 0,
            n_expected=means.n_expected,
            groups=means.families(run.pk) if place.is_overall else {},
            tasks=tasks.get(run.pk, {}),
            missing=missing.get(run.pk, ()),
            standing=means.standing(run.pk),
        )
        for run in runs
    ]
    return tuple(sorted(rows, key=_board_order))


class _GroupMeans:
    """The means of runs in a group: from the statistics where they are fresh, and else as each run stored them."""

    def __init__(self, runs: Sequence[Run], place: _Place, statistics: SuiteStatistics | None) -> None:
        scopes = (place.scope, AggregateScope.FAMILY) if place.is_overall else (place.scope,)
        self._run_ids = [run.pk for run in runs]
        self._place = place
        self._content = statistics.content if statistics is not None and statistics.is_fresh else None
        self._stored = {} if self._content is not None else _aggregates(runs, scopes=scopes)
        known = [mean.n_expected for run_id in self._run_ids if (mean := self._stored_mean(run_id))]
        self.n_expected = len(place.task_ids) or max(known, default=0)

    def standing(self, run_id: UUID) -> Standing | None:
        """Where the statistics place a run."""
        if self._content is None:
            return None
        return self._content.standing(self._place.scope.value, self._place.key, run_id)

    def mean(self, run_id: UUID) -> GroupScore | None:
        """The mean of a run over its tasks of the group, None without any."""
        if self._content is None:
            return self._stored_mean(run_id)
        return _score_of(self.standing(run_id))

    def families(self, run_id: UUID) -> dict[str, GroupScore]:
        """The means of a run by family."""
        if self._content is None:
            found = {key: self._stored.get((run_id, "family", key, MAIN_METRIC)) for key in Family.values}
        else:
            found = {key: _score_of(self._content.standing("family", key, run_id)) for key in Family.values}
        return {key: score for key, score in found.items() if score is not None}

    def cv(self, run_id: UUID) -> float | None:
        """The spread of a run across families."""
        if self._content is not None:
            analysis = self._content.analysis("cv", run_id)
            return analysis.value if analysis else None
        stored = self._stored.get((run_id, self._place.scope.value, self._place.key, "cv"))
        return stored.value if stored else None

    def ranks(self) -> dict[UUID, int]:
        """The ranks of complete runs."""
        if self._content is not None:
            standings = {run_id: self.standing(run_id) for run_id in self._run_ids}
            return {run_id: one.rank for run_id, one in standings.items() if one and one.rank is not None}
        means = {run_id: self.mean(run_id) for run_id in self._run_ids}
        return competition_ranks(
            {run_id: mean.value for run_id, mean in means.items() if mean and mean.n_tasks >= self.n_expected}
        )

    def _stored_mean(self, run_id: UUID) -> GroupScore | None:
        return self._stored.get((run_id, self._place.scope.value, self._place.key, MAIN_METRIC))


def _score_of(standing: Standing | None) -> GroupScore | None:
    if standing is None:
        return None
    return GroupScore(standing.value, standing.lower, standing.upper, standing.n_tasks, standing.n_expected)


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


def competition_ranks(values: Mapping[UUID, float]) -> dict[UUID, int]:
    """Rank 1 for the largest; equal values share a rank and the next one counts them all (1, 2, 2, 4)."""
    rounded = {key: round(value, EQUAL_DECIMALS) for key, value in values.items()}
    first_place: dict[float, int] = {}
    for place, value in enumerate(sorted(rounded.values(), reverse=True), start=1):
        first_place.setdefault(value, place)
    return {key: first_place[value] for key, value in rounded.items()}


def _missing(
    run_ids: Sequence[UUID], place: _Place, statistics: SuiteStatistics | None
) -> dict[UUID, tuple[Missing, ...]]:
    """Why runs lack tasks: failures by code, other data, and what a run never had because the data came later."""
    counted = (
        TaskRun.objects.filter(run__in=run_ids, task__in=place.task_ids)
        .order_by()
        .values_list("run_id", "state", "error_code", "task__name")
    )
    left_out = statistics.left_out if statistics is not None and statistics.is_fresh else {}
    reasons: dict[UUID, Counter[str]] = {run_id: Counter() for run_id in run_ids}
    had = dict.fromkeys(run_ids, 0)
    for run_id, state, code, name in counted:
        had[run_id] += 1
        if state != TaskRunState.SUCCEEDED:
            reasons[run_id][code or state] += 1
        elif name in left_out.get(str(run_id), ()):
            reasons[run_id][OTHER_DATA] += 1
    for run_id in run_ids:
        if had[run_id] < len(place.task_ids):
            reasons[run_id][""] = len(place.task_ids) - had[run_id]
    return {
        run_id: tuple(Missing(code, count) for code, count in sorted(found.items(), key=_reason_order))
        for run_id, found in reasons.items()
    }


def _reason_order(reason: tuple[str, int]) -> tuple[bool, int, str]:
    """The most frequent first, tasks that a run never had last."""
    code, count = reason
    return (not code, -count, code)


def _task_scores(runs: Sequence[Run], place: _Place) -> dict[UUID, dict[int, TaskScore]]:
    scores = (
        Score.objects.filter(
            is_main=True, task_run__run__in=[run.pk for run in runs], task_run__task__in=place.task_ids
        )
        .select_related("task_run")
        .defer("task_run__outcomes")
    )
    found: dict[UUID, dict[int, TaskScore]] = {}
    for score in scores:
        found.setdefault(score.task_run.run_id, {})[score.task_run.task_id] = task_score(score)
    return found

"""The overall board as it is at this moment, computed from what is published.

A row is complete when its run evaluated every installed task. Complete rows are ranked by the mean of the family means;
the others are listed with their coverage and the reason. Means and ranks come from the suite's statistics. While a
worker computes these anew, ranks are by value, equal means sharing one, and have no intervals. The boards' own pages
read what `board_making` made of a snapshot instead.
"""

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from leaderboard.models import AggregateScore, Run, Task, TaskRun
from leaderboard.models.vocabulary import AggregateScope, Family, TaskRunState
from leaderboard.selectors.board_making import board_order, group_chances, missing_reasons, score_of
from leaderboard.selectors.board_rows import OTHER_DATA, Board, BoardRow, GroupScore, Missing
from leaderboard.selectors.catalogue import LISTED, SuiteSummary
from leaderboard.selectors.place_ranks import competition_ranks
from leaderboard.selectors.published import MAIN_METRIC, published_model
from leaderboard.selectors.snapshots import Standing, SuiteStatistics, suite_statistics

OVERALL = AggregateScope.OVERALL


def overall_board(suite: SuiteSummary) -> Board:
    """The board over all families. At most five queries, without means as stored when statistics are fresh."""
    tasks = list(Task.objects.filter(suite=suite.pk, is_installed=True).order_by("position"))
    runs = list(
        Run.objects.filter(LISTED, suite=suite.pk)
        .select_related("revision__model")
        .defer("environment", "model_description")
        .order_by("revision__model__repo_id", "revision_id")
    )
    statistics = suite_statistics(suite.pk, run_ids=[run.pk for run in runs], tasks=[task.name for task in tasks])
    rows = _rows(runs, tasks, statistics)
    return Board(scope=OVERALL, key="", rows=rows, group_chance=group_chances(tasks), statistics=statistics)


def _rows(runs: Sequence[Run], tasks: Sequence[Task], statistics: SuiteStatistics | None) -> tuple[BoardRow, ...]:
    means = _Means(runs, len(tasks), statistics)
    ranks = means.ranks()
    incomplete = [run.pk for run in runs if run.pk not in ranks]
    missing = _missing(incomplete, tasks, statistics) if incomplete else {}
    rows = [
        BoardRow(
            model=published_model(run),
            rank=ranks.get(run.pk),
            mean=(mean := means.mean(run.pk)),
            cv=means.cv(run.pk),
            n_tasks=mean.n_tasks if mean else 0,
            n_expected=means.n_expected,
            groups=means.families(run.pk),
            missing=missing.get(run.pk, ()),
            standing=means.standing(run.pk),
        )
        for run in runs
    ]
    return tuple(sorted(rows, key=board_order))


class _Means:
    """The means of runs: from the statistics where they are fresh, and else as each run stored them."""

    def __init__(self, runs: Sequence[Run], n_tasks: int, statistics: SuiteStatistics | None) -> None:
        self._run_ids = [run.pk for run in runs]
        self._content = statistics.content if statistics is not None and statistics.is_fresh else None
        self._stored = {} if self._content is not None else _aggregates(runs)
        known = [mean.n_expected for run_id in self._run_ids if (mean := self._stored_mean(run_id))]
        self.n_expected = n_tasks or max(known, default=0)

    def standing(self, run_id: UUID) -> Standing | None:
        """Where the statistics place a run."""
        return self._content.standing(OVERALL.value, "", run_id) if self._content is not None else None

    def mean(self, run_id: UUID) -> GroupScore | None:
        """The mean of a run over its families, None without any."""
        if self._content is None:
            return self._stored_mean(run_id)
        return score_of(self.standing(run_id))

    def families(self, run_id: UUID) -> dict[str, GroupScore]:
        """The means of a run by family."""
        if self._content is None:
            found = {key: self._stored.get((run_id, "family", key, MAIN_METRIC)) for key in Family.values}
        else:
            found = {key: score_of(self._content.standing("family", key, run_id)) for key in Family.values}
        return {key: score for key, score in found.items() if score is not None}

    def cv(self, run_id: UUID) -> float | None:
        """The spread of a run across families."""
        if self._content is not None:
            analysis = self._content.analysis("cv", run_id)
            return analysis.value if analysis else None
        stored = self._stored.get((run_id, OVERALL.value, "", "cv"))
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
        return self._stored.get((run_id, OVERALL.value, "", MAIN_METRIC))


AggregateKey = tuple[UUID, str, str, str]


def _aggregates(runs: Sequence[Run]) -> dict[AggregateKey, GroupScore]:
    found = AggregateScore.objects.filter(run__in=[run.pk for run in runs], scope__in=[OVERALL, AggregateScope.FAMILY])
    return {
        (score.run_id, score.scope, score.key, score.metric): GroupScore(
            score.value, score.lower, score.upper, score.n_tasks, score.n_expected
        )
        for score in found
    }


def _missing(
    run_ids: Sequence[UUID], tasks: Sequence[Task], statistics: SuiteStatistics | None
) -> dict[UUID, tuple[Missing, ...]]:
    """Why runs lack tasks: failures by code, other data, and what a run never had because the data came later."""
    counted = (
        TaskRun.objects.filter(run__in=run_ids, task__in=tasks)
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
        if had[run_id] < len(tasks):
            reasons[run_id][""] = len(tasks) - had[run_id]
    return {run_id: missing_reasons(found) for run_id, found in reasons.items()}

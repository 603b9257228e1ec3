"""Computes what a board says beside its scores, from the stored outcomes of all published runs."""

import logging
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.results import unpack_outcomes
from evaluation.suites.medheb.baselines import chosen_baselines
from evaluation.suites.medheb.board import BoardStatistics, board_to_json
from evaluation.suites.medheb.board_statistics import board_statistics
from evaluation.suites.medheb.differences import paired_differences
from evaluation.suites.medheb.reader import read_suite
from evaluation.types import RankOutcomes, SuiteSpec
from evaluation.vocabulary import AggregateScope
from leaderboard import queue
from leaderboard.models import Run, Suite, TaskRun
from leaderboard.models.vocabulary import SuiteKind, TaskRunState
from leaderboard.selectors.catalogue import LISTED
from leaderboard.selectors.due_snapshots import suites_to_build, suites_to_mark
from leaderboard.selectors.snapshots import installed_tasks
from leaderboard.services.snapshots import snapshot_mark_anew, snapshot_retire, snapshot_store, snapshot_turn
from workers.examples import build_examples
from workers.probe_snapshots import probe_snapshot
from workers.rounding import rounded
from workers.suite_folders import suite_folder

LARGEST_TASKS = 5
"""Of each pair of models, in how many tasks the difference is kept: those in which the two differ most."""
COMPARED_MODELS = 50
"""Differences are kept between the best so many models: their number grows with the square."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Measured:
    """Outcomes by run and task, all of one task from the same data; `left_out` holds the tasks of other data."""

    outcomes: dict[str, dict[str, RankOutcomes]]
    left_out: dict[str, list[str]] = field(default_factory=dict)


def build_snapshots() -> None:
    """Bring the statistics and boards of every suite that needs it up to date."""
    for suite_id in sorted({*suites_to_build(), *suites_to_mark()}):
        build_snapshot(suite_id)


def build_snapshot(suite_id: int) -> bool:
    """Bring the statistics and boards of one suite up to date; whether there was anything to do and it was done.

    Where only what is known of training data has changed, the statistics stay. Only one worker computes a suite's statistics at a time. What cannot be computed is logged and leaves the board
    without ranks' intervals; it never stops a worker.
    """
    with snapshot_turn(suite_id) as is_ours:
        if not is_ours:
            return False
        if suite_id not in suites_to_build():
            return _mark_anew(suite_id)
        started = time.monotonic()
        suite = Suite.objects.get(pk=suite_id)
        try:
            n_runs = _build(suite)
        except EvaluationError:
            logger.exception("statistics of %s cannot be computed", suite)
            return False
    logger.info("statistics of %s: %d runs in %.1f s", suite, n_runs, time.monotonic() - started)
    if suite_id in suites_to_build() or suite_id in suites_to_mark():
        queue.ring_snapshot(suite_id)
    return True


def _mark_anew(suite_id: int) -> bool:
    is_due = suite_id in suites_to_mark()
    if is_due:
        snapshot_mark_anew(suite_id=suite_id)
        logger.info("boards of suite %d made anew: what is known of training data has changed", suite_id)
    return is_due


def _build(suite: Suite) -> int:
    runs = list(Run.objects.filter(LISTED, suite=suite).select_related("revision__model").order_by("published_at"))
    if not runs:
        snapshot_retire(suite_id=suite.pk)
        return 0
    tasks = installed_tasks(suite.pk)
    if suite.kind == SuiteKind.PROBING:
        _store_probing(suite, runs, tasks)
    else:
        _store_retrieval(suite, runs, tasks)
    return len(runs)


def _store_probing(suite: Suite, runs: list[Run], tasks: list[str]) -> None:
    found = probe_snapshot(suite, runs, tasks)
    snapshot_store(
        suite_id=suite.pk,
        content=found.content,
        run_ids=[run.pk for run in runs],
        tasks=tasks,
        differences=found.differences,
        left_out=found.left_out,
    )


def _store_retrieval(suite: Suite, runs: list[Run], tasks: list[str]) -> None:
    spec = _restricted(read_suite(suite_folder(suite)), tasks)
    measured = _measured(runs, tasks)
    models = {
        str(run.pk): (run.revision.model.repo_id, run.revision.adapter_repo_id)
        for run in runs
        if measured.outcomes[str(run.pk)]
    }
    outcomes = {run_id: measured.outcomes[run_id] for run_id in models}
    board = board_statistics(spec, outcomes, baselines=tuple(chosen_baselines(models)))
    snapshot_store(
        suite_id=suite.pk,
        content=board_to_json(board),
        run_ids=[run.pk for run in runs],
        tasks=tasks,
        differences=_differences(spec, board, outcomes),
        left_out=measured.left_out,
    )
    build_examples(suite, spec, left_out=measured.left_out)


def _restricted(suite: SuiteSpec, tasks: list[str]) -> SuiteSpec:
    """The suite with the installed tasks alone: a model is ranked when it has all of them."""
    return replace(suite, tasks=tuple(spec for spec in suite.tasks if spec.name in tasks))


def _measured(runs: list[Run], tasks: list[str]) -> _Measured:
    """The outcomes of runs, the earliest published first; of equally many runs on different data the latest decides."""
    found = TaskRun.objects.filter(run__in=runs, state=TaskRunState.SUCCEEDED, task__name__in=tasks)
    rows = list(
        found.order_by("run__published_at").values_list("run_id", "task__name", "n_queries", "data_sha256", "outcomes")
    )
    data: dict[str, Counter[str]] = {}
    latest: dict[tuple[str, str], int] = {}
    for place, (_, task, _, data_sha256, _) in enumerate(rows):
        data.setdefault(task, Counter())[data_sha256] += 1
        latest[task, data_sha256] = place
    chosen = {
        task: max(counts, key=lambda sha, task=task, counts=counts: (counts[sha], latest[task, sha]))
        for task, counts in data.items()
    }
    measured = _Measured({str(run.pk): {} for run in runs})
    for run_id, task, n_queries, data_sha256, packed in rows:
        if data_sha256 == chosen[task]:
            measured.outcomes[str(run_id)][task] = unpack_outcomes(bytes(packed), n_queries, task=task)[1]
        else:
            measured.left_out.setdefault(str(run_id), []).append(task)
    return measured


def _differences(
    suite: SuiteSpec, board: BoardStatistics, outcomes: Mapping[str, Mapping[str, RankOutcomes]]
) -> dict[str, Any]:
    overall = [group for group in board.groups if group.scope == AggregateScope.OVERALL]
    best = sorted(standing.model for group in overall for standing in group.standings[:COMPARED_MODELS])
    numbers = {model: number for number, model in enumerate(best)}
    rows = [
        [
            numbers[pair.a], numbers[pair.b], pair.scope, pair.key,
            *rounded(pair.value, pair.lower, pair.upper),
        ]
        for pair in paired_differences(
            suite, {model: outcomes[model] for model in best}, largest_tasks=LARGEST_TASKS
        )
    ]  # fmt: skip
    return {"models": best, "rows": rows}

"""Computes how a finished rerun differs from the published run, so that whoever publishes it knows what is shown."""

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from evaluation.errors import EvaluationError
from evaluation.results import unpack_outcomes
from evaluation.suites.medheb.comparison import compare_models
from evaluation.suites.medheb.reader import read_suite
from evaluation.suites.medtec.comparison import compare_cells
from evaluation.suites.medtec.material import read_board_material
from evaluation.suites.medtec.suite import read_probe_suite
from evaluation.types import RankOutcomes
from evaluation.vocabulary import AggregateScope
from leaderboard.models import Run, TaskRun
from leaderboard.models.vocabulary import SuiteKind, TaskRunState
from leaderboard.selectors.comparison import TASK_SCOPE, Uncompared, runs_to_compare
from leaderboard.services.comparisons import comparison_store
from workers.probe_ingest import probe_result_of
from workers.rounding import rounded
from workers.suite_folders import suite_folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Row:
    """New minus old in one group or task; `lower` and `upper` are None where too little was observed."""

    scope: str
    key: str
    value: float
    lower: float | None
    upper: float | None
    n_tasks: int


def build_comparisons() -> None:
    """Compare every finished rerun that waits for a decision. What cannot be compared is logged and has no intervals."""
    for waiting in runs_to_compare():
        try:
            _build(waiting)
        except EvaluationError as error:
            logger.exception("run %s cannot be compared with %s", waiting.run_id, waiting.baseline_id)
            comparison_store(
                run_id=waiting.run_id,
                baseline_id=waiting.baseline_id,
                trouble=f"The two results cannot be compared ({error.code}).",
            )


def _build(waiting: Uncompared) -> None:
    run = Run.objects.select_related("suite").get(pk=waiting.run_id)
    new, old = _results(waiting.run_id), _results(waiting.baseline_id)
    unpaired = [name for name in new if name in old and new[name].data_sha256 != old[name].data_sha256]
    shared = [name for name in new if name in old and name not in unpaired]
    rows_of = _cell_rows if run.suite.kind == SuiteKind.PROBING else _retrieval_rows
    rows = rows_of(run, {name: new[name] for name in shared}, {name: old[name] for name in shared}) if shared else []
    comparison_store(
        run_id=waiting.run_id,
        baseline_id=waiting.baseline_id,
        rows=[asdict(row) for row in rows],
        unpaired=unpaired,
    )


def _results(run_id: object) -> dict[str, TaskRun]:
    found = TaskRun.objects.filter(run=run_id, state=TaskRunState.SUCCEEDED).select_related("task")
    return {task_run.task.name: task_run for task_run in found.prefetch_related("scores").order_by("task__position")}


def _retrieval_rows(run: Run, new: Mapping[str, TaskRun], old: Mapping[str, TaskRun]) -> list[_Row]:
    suite = read_suite(suite_folder(run.suite))
    return [
        _Row(
            row.scope,
            "" if row.scope == AggregateScope.OVERALL else row.key,
            *rounded(row.difference.value, row.difference.lower, row.difference.upper),
            row.n_tasks,
        )
        for row in compare_models(suite, _outcomes(new), _outcomes(old))
    ]


def _cell_rows(run: Run, new: Mapping[str, TaskRun], old: Mapping[str, TaskRun]) -> list[_Row]:
    folder = suite_folder(run.suite)
    declared = read_probe_suite(folder)
    suite = replace(declared, tasks=tuple(spec for spec in declared.tasks if spec.name in new))
    results = [{name: probe_result_of(task_run) for name, task_run in side.items()} for side in (new, old)]
    cells = compare_cells(suite, *results, read_board_material(folder, suite))
    return [
        _Row(TASK_SCOPE, cell.task, *rounded(cell.estimate.value, cell.estimate.lower, cell.estimate.upper), 1)
        for cell in cells
    ]


def _outcomes(task_runs: Mapping[str, TaskRun]) -> dict[str, RankOutcomes]:
    return {
        name: unpack_outcomes(bytes(task_run.outcomes), task_run.n_queries, task=name)[1]
        for name, task_run in task_runs.items()
    }

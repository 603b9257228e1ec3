"""Computes what the boards of a probing suite say, from the stored arrays of all published runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluation.probe_manifest import probe_suite_sha256
from evaluation.probe_types import ProbeTaskResult
from evaluation.suites.medtec.board import ProbeBoard, probe_board_to_json
from evaluation.suites.medtec.board_statistics import probe_board
from evaluation.suites.medtec.differences import PairedCell, paired_cells
from evaluation.suites.medtec.material import read_board_material
from evaluation.suites.medtec.suite import read_probe_suite
from evaluation.vocabulary import CellClass
from leaderboard.models import Run, Suite, TaskRun
from leaderboard.models.vocabulary import TaskRunState
from workers.probe_ingest import probe_result_of
from workers.rounding import rounded
from workers.suite_folders import suite_folder

COMPARED_PROBED_MODELS = 20
"""Differences are kept between the best so many models: each pair has one in every cell."""


@dataclass(frozen=True, slots=True)
class ProbeSnapshot:
    """The document of a board, paired differences, and by run the tasks measured on other data than most."""

    content: Mapping[str, Any]
    differences: Mapping[str, Any]
    left_out: Mapping[str, Sequence[str]]


def probe_snapshot(suite: Suite, runs: Sequence[Run], tasks: Sequence[str]) -> ProbeSnapshot:
    """The board of published runs, the earliest published first, over the installed tasks.

    Raises:
        EvaluationError: the suite's folder or a stored result is not what it has to be.
    """
    folder = suite_folder(suite)
    declared = read_probe_suite(folder)
    installed = replace(declared, tasks=tuple(spec for spec in declared.tasks if spec.name in tasks))
    results = _results(runs, tasks)
    material = read_board_material(folder, installed)
    board = probe_board(installed, results, material, suite_sha256=probe_suite_sha256(declared))
    left_out: dict[str, list[str]] = {}
    for row in board.left_out:
        left_out.setdefault(row.model, []).append(row.task)
    best = _best(board)
    pairs = paired_cells(installed, results, material, models=best)
    return ProbeSnapshot(probe_board_to_json(board), _differences(best, pairs), left_out)


def _best(board: ProbeBoard) -> list[str]:
    """The models that are compared: those that tell descriptions apart in most cells."""
    told_apart = Counter(cell.model for cell in board.cells if cell.cell_class == CellClass.DISCRIMINATES)
    return sorted(sorted(board.models, key=lambda model: -told_apart[model])[:COMPARED_PROBED_MODELS])


def _differences(models: Sequence[str], pairs: Sequence[PairedCell]) -> dict[str, Any]:
    numbers = {model: number for number, model in enumerate(models)}
    rows = [
        [
            numbers[pair.a], numbers[pair.b], pair.modality, pair.dataset, pair.level,
            *rounded(pair.value, pair.lower, pair.upper), pair.n_cells,
        ]
        for pair in pairs
    ]  # fmt: skip
    return {"models": list(models), "rows": rows}


def _results(runs: Sequence[Run], tasks: Sequence[str]) -> dict[str, dict[str, ProbeTaskResult]]:
    """By run and task; a run without any result is not on the board."""
    found: dict[str, dict[str, ProbeTaskResult]] = {str(run.pk): {} for run in runs}
    stored = (
        TaskRun.objects.filter(run__in=runs, state=TaskRunState.SUCCEEDED, task__name__in=tasks)
        .select_related("task")
        .prefetch_related("scores")
        .order_by("task__position")
    )
    for task_run in stored:
        found[str(task_run.run_id)][task_run.task.name] = probe_result_of(task_run)
    return {run: results for run, results in found.items() if results}

"""Results of invented runs, stored in bulk."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils import timezone

from leaderboard.management.seeding.copying import copy_in
from leaderboard.models import Run, Score, Task, TaskRun
from leaderboard.models.vocabulary import ErrorKind, TaskKind, TaskRunState

NO_OUTCOMES = b"drawn"
"""In the place of ranks: nothing was ranked."""
GIBIBYTE = 1024**3


@dataclass(frozen=True, slots=True)
class DrawnScores:
    """Values with the ends of their intervals, a row a run and a column a task; not a number where there is none."""

    value: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def store_results(
    runs: Sequence[Run], tasks: Sequence[Task], scores: DrawnScores, *, decades: np.ndarray, metric: str
) -> None:
    """Store a task run for each run and task, with its main score where there is one."""
    rows = list(_task_runs(runs, tasks, scores, decades))
    copy_in(rows)
    width = len(tasks)
    copy_in(
        [
            Score(
                task_run=row,
                metric=metric,
                value=float(scores.value[place]),
                lower=float(scores.lower[place]),
                upper=float(scores.upper[place]),
                is_main=True,
            )
            for number, row in enumerate(rows)
            if not np.isnan(scores.value[place := divmod(number, width)])
        ]
    )


def _task_runs(
    runs: Sequence[Run], tasks: Sequence[Task], scores: DrawnScores, decades: np.ndarray
) -> Iterator[TaskRun]:
    now = timezone.now()
    for row, run in enumerate(runs):
        seconds = float(10 ** (decades[row] - 8.5))
        memory = int(10 ** decades[row] * 2.5) + GIBIBYTE
        for column, task in enumerate(tasks):
            value = scores.value[row, column]
            if np.isnan(value):
                yield TaskRun(
                    run=run, task=task, state=TaskRunState.FAILED, finished_at=now, error_code="input_unsupported",
                    error_kind=ErrorKind.MODEL, error_message="This invented model reads text only.",
                )  # fmt: skip
                continue
            is_ranking = task.kind == TaskKind.RETRIEVAL
            yield TaskRun(
                run=run,
                task=task,
                state=TaskRunState.SUCCEEDED,
                finished_at=now,
                inputs_done=1000,
                inputs_total=1000,
                seconds_embedding=seconds,
                seconds_ranking=0.1,
                peak_memory_bytes=memory,
                n_queries=task.n_queries,
                chance=task.chance,
                hit_at_1_optimistic=float(value) if is_ranking else None,
                hit_at_1_pessimistic=float(value) if is_ranking else None,
                self_excluded=0 if is_ranking else None,
                outcomes=NO_OUTCOMES,
            )

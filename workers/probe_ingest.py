"""Between the child's results of probing tasks, the database, and the results again."""

from typing import Any

from evaluation.errors import ResultInvalid
from evaluation.probe_results import packed_arrays, probe_result_from_json, unpack_arrays
from evaluation.probe_types import ProbeTaskResult
from evaluation.types import MetricValue
from evaluation.vocabulary import ProbeTaskKind
from leaderboard.models import TaskRun
from leaderboard.services.results import ScoreValue, TaskOutcome
from workers.probe_catalogue import TASK_KINDS

COUNTED = {
    ProbeTaskKind.CELL: "anchors",
    ProbeTaskKind.CLOSED_QUESTIONS: "questions",
    ProbeTaskKind.RETRIEVAL: "images",
    ProbeTaskKind.ZERO_SHOT: "images",
}
"""Which of a result's counts says how much was scored."""

_LIBRARY_KINDS = {own: kind for kind, own in TASK_KINDS.items()}


def probe_outcome(document: Any) -> tuple[str, TaskOutcome]:
    """The task's name and what to store of its result.

    Raises:
        ResultInvalid: the document breaks the result schema, or does not say how much was scored.
    """
    result = probe_result_from_json(document)
    n_items = result.counts.get(COUNTED[result.kind], 0)
    if not n_items or not result.metrics:
        raise ResultInvalid(f"{result.task}: the result has no {COUNTED[result.kind]} or no metric.")
    return result.task, TaskOutcome(
        scores=tuple(ScoreValue(metric.name, metric.value, metric.lower, metric.upper) for metric in result.metrics),
        main_metric=result.metrics[0].name,
        chance=result.chance,
        n_queries=n_items,
        n_inputs=result.n_inputs,
        seconds_embedding=result.seconds_embedding,
        seconds_ranking=result.seconds_scoring,
        peak_memory_bytes=result.peak_memory_bytes,
        data_sha256=result.data_sha256,
        outcomes=packed_arrays(result),
        counts=dict(result.counts),
    )


def probe_result_of(task_run: TaskRun) -> ProbeTaskResult:
    """The result as it was ingested, from a task run loaded with its task and scores; its warnings are not kept.

    Raises:
        ResultInvalid: the stored arrays cannot be read.
    """
    task = task_run.task
    scores = sorted(task_run.scores.all(), key=lambda score: (not score.is_main, score.metric))
    return ProbeTaskResult(
        task=task.name,
        kind=_LIBRARY_KINDS[task.kind],
        spec_sha256=task.spec_sha256,
        data_sha256=task_run.data_sha256,
        metrics=tuple(MetricValue(score.metric, score.value, score.lower, score.upper) for score in scores),
        chance=task_run.chance,
        counts=task_run.counts,
        arrays=unpack_arrays(bytes(task_run.outcomes), task=task.name),
        n_inputs=task_run.inputs_total,
        seconds_embedding=task_run.seconds_embedding or 0.0,
        seconds_scoring=task_run.seconds_ranking or 0.0,
        peak_memory_bytes=task_run.peak_memory_bytes or 0,
    )

"""Scores one task of the probing suite from its vectors, whatever its kind."""

import time

from evaluation.evaluators.caption_retrieval import score_captions
from evaluation.evaluators.cells import score_cell
from evaluation.evaluators.closed_questions import score_questions
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.probe_scores import ProbeScores
from evaluation.evaluators.zero_shot import score_labels
from evaluation.manifest import spec_sha256
from evaluation.probe_tasks import CaptionTask, CellTask, LabelTask, ProbeTask, QuestionTask
from evaluation.probe_types import ProbeTaskResult
from evaluation.types import FloatMatrix


def evaluate_probe_task(task: ProbeTask, vectors: FloatMatrix, *, cost: EmbeddingCost) -> ProbeTaskResult:
    """Score a task.

    Args:
        task: the loaded task.
        vectors: float32 rows of unit length, one for each of `task.inputs` in that order.
        cost: time and memory spent on the vectors, for the record.

    Raises:
        SuiteInvalid: the task's answers or labels have one class only, so that nothing can be told apart.
    """
    if len(vectors) != len(task.inputs):
        raise ValueError(f"{len(vectors)} vectors were given for {len(task.inputs)} inputs of {task.spec.name}")
    started = time.perf_counter()
    scores = _scores(task, vectors)
    return ProbeTaskResult(
        task=task.spec.name,
        kind=task.spec.kind,
        spec_sha256=spec_sha256(task.spec),
        data_sha256=task.data_sha256,
        metrics=scores.metrics,
        chance=scores.chance,
        counts=scores.counts,
        arrays=scores.arrays,
        n_inputs=len(task.inputs),
        seconds_embedding=cost.seconds,
        seconds_scoring=time.perf_counter() - started,
        peak_memory_bytes=cost.peak_memory_bytes,
        warnings=scores.warnings,
    )


def _scores(task: ProbeTask, vectors: FloatMatrix) -> ProbeScores:
    match task:
        case CellTask():
            return score_cell(task, vectors)
        case QuestionTask():
            return score_questions(task, vectors)
        case CaptionTask():
            return score_captions(task, vectors)
        case LabelTask():
            return score_labels(task, vectors)

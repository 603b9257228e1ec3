"""Evaluates one model on many tasks: each input is embedded once, and a task that fails stops no other."""

import logging
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

from evaluation.embedding.store import EmbeddingStore
from evaluation.errors import EvaluationError, UnexpectedFailure
from evaluation.evaluators.retrieval import EmbeddingCost, evaluate_task
from evaluation.manifest import spec_sha256
from evaluation.types import RetrievalTask, TaskFailure, TaskResult, TaskSpec

_KIBIBYTE = 1024

logger = logging.getLogger(__name__)


class Stage(StrEnum):
    """What is being done to a task."""

    EMBEDDING = "embedding"
    RANKING = "ranking"


TaskProgress = Callable[[TaskSpec, Stage, int, int], None]


def evaluate_tasks(
    specs: Sequence[TaskSpec],
    *,
    load: Callable[[TaskSpec], RetrievalTask],
    store: EmbeddingStore,
    on_progress: TaskProgress,
    completed: Mapping[str, TaskResult] | None = None,
) -> Iterator[TaskResult | TaskFailure]:
    """Yield the outcome of each task as soon as it is known, in the order of `specs`.

    Args:
        specs: the tasks to evaluate.
        load: reads and checks the records of a task.
        store: gives vectors.
        on_progress: called with (task, stage, done, total).
        completed: results of an earlier attempt by task; one is yielded again if its declaration and data are those of
            today.
    """
    for spec in specs:
        try:
            yield _evaluate(spec, load=load, store=store, on_progress=on_progress, completed=completed or {})
        except EvaluationError as error:
            yield _failure(spec, error)
        except Exception as error:  # a defect or a lack of memory in one task must not end the others
            logger.exception("task %s failed unexpectedly", spec.name)
            yield _failure(spec, UnexpectedFailure(f"{type(error).__name__}: {error}"))


def _evaluate(
    spec: TaskSpec,
    *,
    load: Callable[[TaskSpec], RetrievalTask],
    store: EmbeddingStore,
    on_progress: TaskProgress,
    completed: Mapping[str, TaskResult],
) -> TaskResult:
    task = load(spec)
    earlier = completed.get(spec.name)
    if earlier and (earlier.spec_sha256, earlier.data_sha256) == (spec_sha256(spec), task.data_sha256):
        return earlier
    total = len(task.inputs)
    on_progress(spec, Stage.EMBEDDING, 0, total)
    started = time.perf_counter()
    vectors = store.vectors(
        task.inputs, task.keys, lambda done, to_do: on_progress(spec, Stage.EMBEDDING, total - to_do + done, total)
    )
    cost = EmbeddingCost(seconds=time.perf_counter() - started, peak_memory_bytes=_peak_memory_bytes())
    on_progress(spec, Stage.RANKING, 0, len(task.queries))
    result = evaluate_task(task, vectors, cost=cost)
    on_progress(spec, Stage.RANKING, len(task.queries), len(task.queries))
    return result


def _failure(spec: TaskSpec, error: EvaluationError) -> TaskFailure:
    return TaskFailure(task=spec.name, code=error.code, kind=error.kind, message=error.message)


def _peak_memory_bytes() -> int:
    """The largest resident size of this process so far; Linux counts it in kibibytes, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIBIBYTE

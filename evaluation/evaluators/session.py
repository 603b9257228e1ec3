"""Evaluates one model on many tasks: shared inputs are embedded once, and a task that fails stops no other."""

import logging
import resource
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

from evaluation.embedding.memory import unexpected_failure
from evaluation.embedding.store import VectorStore
from evaluation.errors import EvaluationError
from evaluation.evaluators.costs import EmbeddingCost
from evaluation.inputs import EmbeddingInput
from evaluation.manifest import spec_sha256
from evaluation.probe_types import ProbeTaskResult, ProbeTaskSpec
from evaluation.types import FloatMatrix, TaskFailure, TaskResult, TaskSpec

_KIBIBYTE = 1024

logger = logging.getLogger(__name__)


class Stage(StrEnum):
    """What is being done to a task."""

    EMBEDDING = "embedding"
    RANKING = "ranking"


class LoadedTask(Protocol):
    """What a task of any kind of suite has once its records are read."""

    @property
    def inputs(self) -> tuple[EmbeddingInput, ...]:
        """What is embedded."""
        ...

    @property
    def keys(self) -> tuple[str, ...]:
        """The content key of each input."""
        ...

    @property
    def shared(self) -> frozenset[int]:
        """Numbers of inputs that other tasks are likely to have too, all together."""
        ...

    @property
    def data_sha256(self) -> str:
        """Covers everything that the task compares."""
        ...

    @property
    def n_scored(self) -> int:
        """How many queries, images or questions are scored."""
        ...


AnySpec = TaskSpec | ProbeTaskSpec
TaskProgress = Callable[[AnySpec, Stage, int, int], None]

_Spec = TypeVar("_Spec", TaskSpec, ProbeTaskSpec)
_Task = TypeVar("_Task", bound=LoadedTask)
_Scored_contra = TypeVar("_Scored_contra", bound=LoadedTask, contravariant=True)
_Result = TypeVar("_Result", TaskResult, ProbeTaskResult)
_Outcome_co = TypeVar("_Outcome_co", bound=TaskResult | ProbeTaskResult, covariant=True)


class Evaluate(Protocol[_Scored_contra, _Outcome_co]):
    """Scores a loaded task from its vectors."""

    def __call__(self, task: _Scored_contra, vectors: FloatMatrix, *, cost: EmbeddingCost) -> _Outcome_co:
        """Score it; `vectors` are unit float32 rows, one for each of the task's inputs."""
        ...


def evaluate_tasks(
    specs: Sequence[_Spec],
    *,
    load: Callable[[_Spec], _Task],
    evaluate: Evaluate[_Task, _Result],
    store: VectorStore,
    on_progress: TaskProgress,
    completed: Mapping[str, _Result] | None = None,
) -> Iterator[_Result | TaskFailure]:
    """Yield the outcome of each task as soon as it is known, in the order of `specs`.

    Args:
        specs: the tasks to evaluate.
        load: reads and checks the records of a task.
        evaluate: scores a loaded task.
        store: gives vectors.
        on_progress: called with (task, stage, done, total).
        completed: results of an earlier attempt by task; one is yielded again if its declaration and data are those of
            today.
    """
    for spec in specs:
        try:
            task = load(spec)
            earlier = (completed or {}).get(spec.name)
            if earlier and (earlier.spec_sha256, earlier.data_sha256) == (spec_sha256(spec), task.data_sha256):
                yield earlier
            else:
                yield _evaluate(spec, task, evaluate=evaluate, store=store, on_progress=on_progress)
        except EvaluationError as error:
            yield _failure(spec, error)
        except Exception as error:  # a defect or a lack of memory in one task must not end the others
            logger.exception("task %s failed unexpectedly", spec.name)
            yield _failure(spec, unexpected_failure(error))


def _evaluate(
    spec: _Spec,
    task: _Task,
    *,
    evaluate: Evaluate[_Task, _Result],
    store: VectorStore,
    on_progress: TaskProgress,
) -> _Result:
    total = len(task.inputs)
    on_progress(spec, Stage.EMBEDDING, 0, total)
    started = time.perf_counter()
    vectors = store.vectors(
        task.inputs,
        task.keys,
        lambda done, to_do: on_progress(spec, Stage.EMBEDDING, total - to_do + done, total),
        shared=task.shared,
    )
    cost = EmbeddingCost(seconds=time.perf_counter() - started, peak_memory_bytes=_peak_memory_bytes())
    on_progress(spec, Stage.RANKING, 0, task.n_scored)
    result = evaluate(task, vectors, cost=cost)
    on_progress(spec, Stage.RANKING, task.n_scored, task.n_scored)
    return result


def _failure(spec: AnySpec, error: EvaluationError) -> TaskFailure:
    return TaskFailure(task=spec.name, code=error.code, kind=error.kind, message=error.message)


def _peak_memory_bytes() -> int:
    """The largest resident size of this process so far; Linux counts it in kibibytes, macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIBIBYTE

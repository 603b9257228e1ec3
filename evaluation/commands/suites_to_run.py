"""What commands that evaluate need of a suite, whatever its kind."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.table import Table

from evaluation.embedding.store import VectorStore
from evaluation.embedding.text_limit import TextLimit
from evaluation.evaluators.session import LoadedTask, TaskProgress
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import RunResult, SuiteIdentity
from evaluation.types import AggregateValue, ModelDescription, TaskFailure, TaskResult

AnyResult = TaskResult | ProbeTaskResult
Outcome = AnyResult | TaskFailure


@dataclass(frozen=True, slots=True)
class VectorSource:
    """Where vectors come from: a model, or a file of embeddings, whose model's limit of text length is not known."""

    store: VectorStore
    description: ModelDescription
    text_limit: TextLimit | None


class SuiteToRun(Protocol):
    """A suite in a folder; tasks are named by their names. Files are hashed once in the life of one object."""

    @property
    def identity(self) -> SuiteIdentity:
        """Which suite it is, for the record."""
        ...

    def listing(self, names: Sequence[str]) -> Table:
        """The named tasks (all if none is named), a row each.

        Raises:
            TaskUnknown: the suite has no task of a name.
        """
        ...

    def loaded(self, names: Sequence[str]) -> Iterator[tuple[str, LoadedTask | None]]:
        """The named tasks with what is embedded for them; None where the data are not there.

        Raises:
            TaskUnknown: the suite has no task of a name.
            EvaluationError: the data of a task cannot be read.
        """
        ...

    def installed(self, names: Sequence[str], console: Console) -> tuple[str, ...]:
        """Those of the named tasks (all if none is named) whose data are there; others are named on the console.

        Raises:
            TaskUnknown: the suite has no task of a name.
            DataMissing: none is there.
        """
        ...

    def outcomes(
        self,
        names: Sequence[str],
        *,
        source: VectorSource,
        on_progress: TaskProgress,
        completed: Mapping[str, AnyResult],
    ) -> Iterator[Outcome]:
        """Evaluate tasks one by one; `completed` are results of an earlier attempt.

        Raises:
            TaskUnknown: the suite has no task of a name.
        """
        ...

    def aggregates(self, results: Sequence[AnyResult]) -> tuple[AggregateValue, ...]:
        """Means over tasks, where this kind of suite has any."""
        ...

    def tables(self, result: RunResult) -> list[Table]:
        """What a person reads at the end of a run."""
        ...

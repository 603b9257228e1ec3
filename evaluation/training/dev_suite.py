"""Hit@1 of a model in training on a suite of retrieval tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.embedders.protocol import Embedder
from evaluation.embedding.encode import InputEncoder
from evaluation.embedding.store import EmbeddingStore
from evaluation.errors import DataMissing
from evaluation.evaluators.similarity import rank_outcomes
from evaluation.hashing import FileHashes
from evaluation.metrics.ranking import hit
from evaluation.suites.medheb.groupings import family_groups
from evaluation.suites.medheb.reader import load_task, read_suite, select_tasks, task_is_installed
from evaluation.types import RankOutcomes, SuiteSpec


@dataclass(frozen=True, slots=True)
class DevScores:
    """Outcomes by task, and Hit@1: the mean of each family's tasks, and `overall` the mean of the families."""

    outcomes: Mapping[str, RankOutcomes]
    families: Mapping[str, float]

    @property
    def overall(self) -> float:
        """A family counts the same however many tasks it has."""
        return float(np.mean(list(self.families.values())))


class DevSuite:
    """The installed tasks of a suite, read once."""

    def __init__(self, folder: Path, *, tasks: Sequence[str] = ()) -> None:
        """Read the named tasks, or all that are installed.

        Raises:
            SuiteInvalid, DataMissing, TaskUnknown: the suite or a task cannot be read, or none is installed.
        """
        self.spec: SuiteSpec = read_suite(folder)
        specs = [spec for spec in select_tasks(self.spec, tasks) if task_is_installed(folder, spec)]
        if not specs:
            raise DataMissing(
                f"None of the tasks has its data under {folder}; install them, or name another dev suite."
            )
        hashes = FileHashes()
        self._tasks = [load_task(folder, spec, hashes=hashes) for spec in specs]

    def scores(self, embedder: Embedder) -> DevScores:
        """Embed and rank every task.

        Raises:
            InputUnreadable, InputUnsupported, EmbeddingInvalid: an input cannot be embedded; the message names it.
        """
        store = EmbeddingStore(InputEncoder(embedder))
        outcomes = {}
        for task in self._tasks:
            vectors = store.vectors(task.inputs, task.keys, _quiet, shared=task.shared)
            outcomes[task.spec.name] = rank_outcomes(vectors, task.queries)
        return DevScores(outcomes, _family_means(self.spec, outcomes))


def _quiet(done: int, total: int) -> None:
    """A dev suite is one pause of a training, whose bar stands still."""


def _family_means(suite: SuiteSpec, outcomes: Mapping[str, RankOutcomes]) -> dict[str, float]:
    means = {}
    for group in family_groups(suite):
        scored = [float(hit(outcomes[name], 1).mean()) for name in group.tasks if name in outcomes]
        if scored:
            means[group.key] = float(np.mean(scored))
    return means

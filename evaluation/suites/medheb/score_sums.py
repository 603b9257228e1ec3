"""Running sums of task scores by group, so that memory does not grow with the number of tasks or queries."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from evaluation.errors import ResultInvalid, TaskUnknown
from evaluation.metrics.ranking import hit
from evaluation.statistics.bootstrap import FloatArray, replicates
from evaluation.suites.medheb.analyses import overall_score
from evaluation.types import RankOutcomes, SuiteSpec

Outcomes = Mapping[str, Mapping[str, RankOutcomes]]
"""Outcomes by the key of a model and the name of a task."""
Place = tuple[str, str]
"""Scope and key of a group."""


class GroupSum:
    """Sum of Hit@1 over the tasks of a group: observed and resampled, shape (models, 1 + resamples)."""

    def __init__(self, n_models: int, resamples: int, *, tasks: Collection[str]) -> None:
        self._tasks = frozenset(tasks)
        self.n_expected = len(self._tasks)
        self.counts = np.zeros(n_models, dtype=np.int64)
        self.n_columns = 1 + resamples
        self._totals = np.zeros((n_models, self.n_columns))

    def add(self, task: str, models: Sequence[int], values: FloatArray) -> None:
        """Add the replicates of a task, a row for each of `models`, if it is one of the group's."""
        if task in self._tasks:
            self._totals[models] += values
            self.counts[models] += 1

    @property
    def complete(self) -> list[int]:
        """Numbers of the models that have a score for every task."""
        return [int(number) for number in np.flatnonzero(self.counts == self.n_expected)]

    def means(self, model: int) -> FloatArray:
        """Observed and resampled mean over the tasks that a model has; NaN where it has none."""
        count = self.counts[model]
        means: FloatArray = self._totals[model] / count if count else np.full(self.n_columns, np.nan)
        return means


def overall_means(families: Iterable[GroupSum], model: int) -> FloatArray:
    """Observed and resampled mean of the means of the families that a model has, shape (1 + resamples,)."""
    means: FloatArray = overall_score(pd.DataFrame(np.stack([total.means(model) for total in families]))).to_numpy()
    return means


def task_replicates(
    suite: SuiteSpec, outcomes: Outcomes, models: Sequence[str], *, resamples: int
) -> Iterator[tuple[str, list[int], FloatArray]]:
    """Each task that some model has: its name, the numbers of those models, and their replicates, a row a model."""
    for spec in suite.tasks:
        having = [number for number, model in enumerate(models) if spec.name in outcomes[model]]
        if having:
            hits = np.stack([hit(outcomes[models[number]][spec.name], 1) for number in having])
            yield spec.name, having, replicates(hits, stratum=spec.name, resamples=resamples)


def score_table(suite: SuiteSpec, outcomes: Outcomes) -> pd.DataFrame:
    """Mean Hit@1, one row a task in the suite's order, one column a model, NaN where a model has no score."""
    columns = {
        model: [float(hit(found[spec.name], 1).mean()) if spec.name in found else float("nan") for spec in suite.tasks]
        for model, found in outcomes.items()
    }
    return pd.DataFrame(columns, index=pd.Index([spec.name for spec in suite.tasks], name="task"))


def check_comparable(suite: SuiteSpec, outcomes: Outcomes) -> None:
    """Make sure that the outcomes of each task come from the same queries and pools.

    Raises:
        TaskUnknown: a model has a task that the suite does not have.
        ResultInvalid: two models have different queries or pools in a task, so nothing can be paired.
    """
    names = {spec.name for spec in suite.tasks}
    first: dict[str, str] = {}
    for model, found in outcomes.items():
        for task, ranks in found.items():
            if task not in names:
                raise TaskUnknown(f"{model} has a score for {task}, which {suite.slug} {suite.version} does not have.")
            other = first.setdefault(task, model)
            if not _same_pools(ranks, outcomes[other][task]):
                raise ResultInvalid(
                    f"{task}: {other} and {model} were evaluated on different queries or pools. Evaluate one of them"
                    " again on the data of the other."
                )


def _same_pools(one: RankOutcomes, other: RankOutcomes) -> bool:
    return np.array_equal(one.pool, other.pool) and np.array_equal(one.relevant, other.relevant)

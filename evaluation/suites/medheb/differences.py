"""Paired differences between all models of a board: what a page that compares a few of them needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import RESAMPLES, FloatArray, percentile_interval
from evaluation.suites.medheb.analyses import overall_score
from evaluation.suites.medheb.groupings import Group, family_groups
from evaluation.suites.medheb.score_sums import GroupSum, Outcomes, check_comparable, task_replicates
from evaluation.types import SuiteSpec
from evaluation.vocabulary import AggregateScope

_OVERALL = AggregateScope.OVERALL.value


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Hit@1 of model `a` minus that of model `b` in one group, with its 95% interval."""

    a: str
    b: str
    scope: str
    key: str
    value: float
    lower: float
    upper: float


def paired_differences(
    suite: SuiteSpec, outcomes: Outcomes, *, resamples: int = RESAMPLES
) -> tuple[PairedDifference, ...]:
    """Differences overall and in each family between any two models that have every task there; `a` sorts before `b`.

    Equal to what `compare_models` finds for two such models.

    Raises:
        TaskUnknown: a model has a task that the suite does not have.
        ResultInvalid: two models have different queries or pools in a task.
    """
    check_comparable(suite, outcomes)
    models = tuple(sorted(outcomes))
    groups = family_groups(suite)
    sums = {group: GroupSum(len(models), resamples, n_expected=len(group.tasks)) for group in groups}
    for task, having, values in task_replicates(suite, outcomes, models, resamples=resamples):
        for group, total in sums.items():
            if task in group.tasks:
                total.add(having, values)
    found: list[PairedDifference] = []
    for group, total in sums.items():
        found += _pairs(
            group.scope.value, group.key, models, {number: total.means(number) for number in total.complete}
        )
    return (*_pairs(_OVERALL, _OVERALL, models, _overall_means(sums)), *found)


def _overall_means(sums: Mapping[Group, GroupSum]) -> dict[int, FloatArray]:
    complete = set.intersection(*(set(total.complete) for total in sums.values())) if sums else set()
    return {
        number: overall_score(pd.DataFrame(np.stack([total.means(number) for total in sums.values()]))).to_numpy()
        for number in sorted(complete)
    }


def _pairs(scope: str, key: str, models: Sequence[str], means: Mapping[int, FloatArray]) -> list[PairedDifference]:
    numbers = sorted(means)
    found = []
    for place, number in enumerate(numbers[:-1]):
        others = numbers[place + 1 :]
        gaps = means[number] - np.stack([means[other] for other in others])
        for other, value, ends in zip(others, gaps[:, 0], _ends(gaps), strict=True):
            lower, upper = min(ends[0], value), max(ends[1], value)
            pair = models[number], models[other]
            found.append(PairedDifference(*pair, scope, key, float(value), float(lower), float(upper)))
    return found


def _ends(gaps: FloatArray) -> NDArray[np.float64]:
    return percentile_interval(gaps[:, 1:]).T

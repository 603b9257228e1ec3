"""Paired differences between all models of a board: what a page that compares a few of them needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import RESAMPLES, FloatArray, percentile_interval
from evaluation.suites.medheb.board import TASK_SCOPE
from evaluation.suites.medheb.groupings import Group, family_groups
from evaluation.suites.medheb.score_sums import (
    GroupSum,
    Outcomes,
    check_comparable,
    overall_means,
    score_table,
    task_replicates,
)
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
    suite: SuiteSpec, outcomes: Outcomes, *, largest_tasks: int = 0, resamples: int = RESAMPLES
) -> tuple[PairedDifference, ...]:
    """Differences overall and in each family between any two models that have every task there; `a` sorts before `b`.

    Of each pair also those in the `largest_tasks` tasks in which the two differ most. All are equal to what
    `compare_models` finds for the two models.

    Raises:
        TaskUnknown: a model has a task that the suite does not have.
        ResultInvalid: two models have different queries or pools in a task.
    """
    check_comparable(suite, outcomes)
    models = tuple(sorted(outcomes))
    groups = family_groups(suite)
    sums = {group: GroupSum(len(models), resamples, tasks=group.tasks) for group in groups}
    pairs_of = _largest(suite, outcomes, models, largest_tasks)
    in_tasks: list[PairedDifference] = []
    for task, having, values in task_replicates(suite, outcomes, models, resamples=resamples):
        for total in sums.values():
            total.add(task, having, values)
        means = dict(zip(having, values, strict=True))
        for a, b in pairs_of.get(task, ()):
            in_tasks += _pairs(TASK_SCOPE, task, models, {a: means[a], b: means[b]})
    found: list[PairedDifference] = []
    for group, total in sums.items():
        found += _pairs(
            group.scope.value, group.key, models, {number: total.means(number) for number in total.complete}
        )
    return (*_pairs(_OVERALL, _OVERALL, models, _overall_means(sums)), *found, *in_tasks)


def _largest(
    suite: SuiteSpec, outcomes: Outcomes, models: Sequence[str], count: int
) -> dict[str, list[tuple[int, int]]]:
    """By task, the pairs of models for which it is one of the `count` tasks in which they differ most, but not by 0."""
    scores = score_table(suite, outcomes)
    found: dict[str, list[tuple[int, int]]] = {}
    for a, b in combinations(range(len(models)), 2):
        gaps = (scores[models[a]] - scores[models[b]]).abs().dropna()
        for task in gaps[gaps > 0].sort_values(ascending=False, kind="stable").index[:count]:
            found.setdefault(str(task), []).append((a, b))
    return found


def _overall_means(sums: Mapping[Group, GroupSum]) -> dict[int, FloatArray]:
    complete = set.intersection(*(set(total.complete) for total in sums.values())) if sums else set()
    return {number: overall_means(sums.values(), number) for number in sorted(complete)}


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

"""From the replicates of a group's means to where each model stands in it."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import FloatArray, percentile_interval
from evaluation.statistics.ranks import rank_intervals, tie_groups
from evaluation.suites.medheb.board import GroupStandings, Standing


def group_standings(
    scope: str, key: str, *, models: Sequence[str], means: FloatArray, counts: NDArray[np.int64], n_expected: int
) -> GroupStandings:
    """Value, interval and, for complete models, rank, rank interval and tie group.

    Args:
        scope: the grouping.
        key: the group in it.
        models: their keys.
        means: shape (models, 1 + resamples), the observed mean first; rows of models without a task are not looked at.
        counts: how many tasks of the group each model has a score for.
        n_expected: how many tasks the group has.
    """
    having = np.flatnonzero(counts)
    ends = np.clip(percentile_interval(means[having, 1:]), 0, 1) if having.size else np.empty((2, 0))
    complete = np.flatnonzero(counts == n_expected)
    places = _places(means[complete], complete) if complete.size else {}
    found = []
    for number, lower, upper in zip(having, *ends, strict=True):
        value = min(1.0, float(means[number, 0]))
        found.append(
            Standing(
                model=models[number],
                value=value,
                lower=min(float(lower), value),
                upper=max(float(upper), value),
                n_tasks=int(counts[number]),
                **places.get(int(number), {}),
            )
        )
    return GroupStandings(scope=scope, key=key, n_expected=n_expected, standings=tuple(sorted(found, key=_order)))


def _places(means: FloatArray, numbers: NDArray[np.int64]) -> dict[int, dict[str, int]]:
    names = ("rank", "rank_lower", "rank_upper", "tie_group")
    rows = np.concatenate([rank_intervals(means), tie_groups(means)[np.newaxis]]).T
    return {
        int(number): dict(zip(names, (int(place) for place in row), strict=True))
        for number, row in zip(numbers, rows, strict=True)
    }


def _order(standing: Standing) -> tuple[bool, int, int, str]:
    return (standing.rank is None, standing.rank or 0, -standing.n_tasks, standing.model)

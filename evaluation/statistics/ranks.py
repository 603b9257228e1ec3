"""Ranks of models, how sure they are, and which models cannot be told apart.

The rank of a model is one more than the number of models with a higher value, so equal values share a rank. Its
interval is the percentile interval of its ranks in the bootstrap's resamples (Goldstein and Spiegelhalter, League
tables and their limitations, 1996; Hall and Miller, Using the bootstrap to quantify the authority of an empirical
ranking, 2009). Hall and Miller show that such intervals are too narrow for models that are exactly equal, which is
why tie groups rest on differences instead.

A tie group has a leader: the best model that is in no group yet. Going down the ranking, a model belongs to the group
as long as the 95% interval of its paired difference to the leader holds zero; the first one that is separated leads
the next group. Each comparison has its own 95%; nothing is corrected for how many there are.

Replicates have shape (models, 1 + resamples): the observed values first, then one column a resample.
"""

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import LEVEL, FloatArray
from evaluation.statistics.intervals import EQUAL, difference

IntArray = NDArray[np.int64]


def ranks(values: FloatArray) -> IntArray:
    """Rank of each row within each column, 1 for the highest; values within `EQUAL` of a neighbour share a rank."""
    order = np.argsort(-values, axis=0, kind="stable")
    falling = np.take_along_axis(values, order, axis=0)
    is_lower = np.ones(values.shape, dtype=bool)
    is_lower[1:] = falling[:-1] - falling[1:] > EQUAL
    places = np.where(is_lower, np.arange(len(values))[:, np.newaxis], 0)
    found: IntArray = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(found, order, np.maximum.accumulate(places, axis=0) + 1, axis=0)
    return found


def rank_intervals(replicates: FloatArray) -> IntArray:
    """Observed rank, lower and upper end of its interval, shape (3, models). Ends are ranks that did occur."""
    found = ranks(replicates)
    tail = (1 - LEVEL) / 2
    lower = np.quantile(found[:, 1:], tail, axis=1, method="lower")
    upper = np.quantile(found[:, 1:], 1 - tail, axis=1, method="higher")
    return np.stack([found[:, 0], np.minimum(lower, found[:, 0]), np.maximum(upper, found[:, 0])])


def tie_groups(replicates: FloatArray) -> IntArray:
    """For each model the rank of its tie group's leader: what models that cannot be told apart share."""
    observed = ranks(replicates[:, :1])[:, 0]
    groups: IntArray = np.empty(len(replicates), dtype=np.int64)
    leader = None
    for model in np.argsort(observed, kind="stable"):
        if leader is None or difference(replicates[leader], replicates[model]).is_separated:
            leader = model
        groups[model] = observed[leader]
    return groups

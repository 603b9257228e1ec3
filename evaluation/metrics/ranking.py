"""Ranking metrics in closed form, as expected values under a random order of equal similarities.

All relevant candidates of a query are equal in content, so they share one similarity with `tied` irrelevant ones and
stand in one block of n = relevant + tied places behind `above` irrelevant candidates. Every order of the block is
equally likely, so the relevant ones are a uniform sample of its places. Metrics at k look at the first k places of the
pool; a pool with fewer candidates than k leaves the rest of the places empty.

Definitions for one query with R relevant candidates, of which c stand in the first k places: hit = [c > 0];
precision = c / k; recall = c / R; F1 = 2c / (k + R), their harmonic mean; MRR = 1 / rank of the first relevant one if
that is at most k, else 0; nDCG = sum of 1 / log2(rank + 1) over relevant ranks up to k, divided by its largest possible
value; MAP = sum of precision at each relevant rank up to k, divided by min(R, k).
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.types import RankOutcomes

CUTOFFS = (1, 5, 10)

FloatVector = NDArray[np.float64]
_Score = TypeVar("_Score", float, FloatVector)


def metric_names() -> tuple[str, ...]:
    """The names of all metrics, e.g. `hit@1`, in the order of their rows in `metric_values`."""
    return tuple(f"{name}@{k}" for name in _METRICS for k in CUTOFFS)


def metric_values(outcomes: RankOutcomes) -> NDArray[np.float64]:
    """All metrics of every query, shape (metrics, queries), each in [0, 1]; rows as in `metric_names`."""
    return np.stack([metric(outcomes, k) for metric in _METRICS.values() for k in CUTOFFS])


def hit(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Probability that a relevant candidate stands in the first k places, one value a query."""
    value, _ = _first_relevant(outcomes, k)
    return value


def reciprocal_rank(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Expected 1 / rank of the first relevant candidate, counted as 0 beyond k."""
    _, value = _first_relevant(outcomes, k)
    return value


def precision(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Expected share of relevant candidates among the first k places."""
    return _expected_found(outcomes, k) / k


def recall(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Expected share of the relevant candidates that stand in the first k places."""
    return _expected_found(outcomes, k) / outcomes.relevant


def f1(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Expected harmonic mean of precision and recall; linear in the number found, so exact."""
    return 2 * _expected_found(outcomes, k) / (k + outcomes.relevant)


def ndcg(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Expected normalised discounted cumulative gain with gains 0 and 1 (Järvelin and Kekäläinen, 2002)."""
    discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    share = outcomes.relevant / (outcomes.relevant + outcomes.tied)
    start = np.minimum(outcomes.above, k)
    gain: FloatVector = share * (discounts[start + _places_in_block(outcomes, k)] - discounts[start])
    ideal: FloatVector = discounts[np.minimum(outcomes.relevant, k)]
    return gain / ideal


def average_precision(outcomes: RankOutcomes, k: int) -> FloatVector:
    """Expected average precision over the first k places.

    A relevant place j of the block has precision (1 + relevant ones before it) / rank; the expectation needs the
    chance that j is relevant, R / n, and that j and an earlier place both are, R (R - 1) / (n (n - 1)).
    """
    relevant = outcomes.relevant.astype(np.float64)
    block = relevant + outcomes.tied
    one = relevant / block
    both = relevant * (relevant - 1) / (block * np.maximum(block - 1, 1))
    total = np.zeros(len(outcomes))
    for rank in range(1, k + 1):
        place = rank - outcomes.above
        inside = (place >= 1) & (place <= block)
        total += np.where(inside, (one + (place - 1) * both) / rank, 0.0)
    return total / np.minimum(relevant, k)


def chance_level(outcomes: RankOutcomes, k: int = 1) -> float:
    """Mean hit@k of a random order of the same pools: what a model scores that cannot tell candidates apart."""
    everything_tied = RankOutcomes(
        above=np.zeros_like(outcomes.above),
        tied=outcomes.pool - outcomes.relevant,
        relevant=outcomes.relevant,
        pool=outcomes.pool,
    )
    return float(hit(everything_tied, k).mean())


def hit_at_1_bounds(outcomes: RankOutcomes) -> tuple[float, float]:
    """Mean Hit@1 if ties always fell in favour of the relevant candidate, and if they never did."""
    first = outcomes.above == 0
    return float(first.mean()), float((first & (outcomes.tied == 0)).mean())


def points_from_ties(outcomes: RankOutcomes) -> float:
    """What a stable sort of lists that begin with the relevant candidate would add to the mean Hit@1, in [0, 1].

    Such a sort, the released evaluation code's, gives every tie to the relevant candidate: the optimistic bound minus
    the expected value.
    """
    optimistic, _ = hit_at_1_bounds(outcomes)
    return optimistic - float(hit(outcomes, 1).mean())


def adjusted_score(score: _Score, chance: float) -> _Score:
    """(score - chance) / (1 - chance): 0 for guessing, 1 for perfection, below 0 for worse than guessing.

    `score` is one number or an array of them.

    Raises:
        ValueError: chance is 1, so nothing can be better.
    """
    if not 0 <= chance < 1:
        raise ValueError(f"chance is {chance}; it must be at least 0 and below 1")
    return (score - chance) / (1 - chance)


def _places_in_block(outcomes: RankOutcomes, k: int) -> NDArray[np.int32]:
    """How many places of the block of equal similarity lie in the first k."""
    return np.clip(k - outcomes.above, 0, outcomes.relevant + outcomes.tied)


def _expected_found(outcomes: RankOutcomes, k: int) -> FloatVector:
    block = outcomes.relevant + outcomes.tied
    found: FloatVector = _places_in_block(outcomes, k) * outcomes.relevant / block
    return found


def _first_relevant(outcomes: RankOutcomes, k: int) -> tuple[FloatVector, FloatVector]:
    """Hit@k and MRR@k together, from the chance that no relevant candidate stands in the first places of the block."""
    block = outcomes.relevant + outcomes.tied
    none_yet = np.ones(len(outcomes))
    reciprocal = np.zeros(len(outcomes))
    for rank in range(1, k + 1):
        before = rank - 1 - outcomes.above
        inside = (before >= 0) & (before < block)
        places_left = np.maximum(block - before, 1)
        others_left = np.maximum(outcomes.tied - before, 0)
        still_none = np.where(inside, none_yet * (others_left / places_left), none_yet)
        reciprocal += (none_yet - still_none) / rank
        none_yet = still_none
    return 1 - none_yet, reciprocal


_METRICS: Mapping[str, Callable[[RankOutcomes, int], FloatVector]] = {
    "hit": hit,
    "ndcg": ndcg,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "map": average_precision,
    "mrr": reciprocal_rank,
}

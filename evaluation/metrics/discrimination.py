"""Discrimination Scores: whether an image stands closer to its best true text than to its best false one.

For one image and one template with p positives and n negatives,

    DS = max_i cos(v, t+_i) - max_j cos(v, t-_j)

(MedTEC). The maximum is taken inside of a template; an image's score is the mean of DS over its concept's templates.
DS <= 0 is a probe failure. A model that knows nothing has exchangeable similarities: the best of all p + n texts is a
positive with chance p / (p + n), and the mean DS is below zero wherever n is larger than p. Three further figures make
cells with unlike p and n, and models with unlike spreads of cosines, comparable: the chance-corrected pass rate, the
size-matched DS, and DS in units of the spread of the model's cosines.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluation.vocabulary import CellClass, Level

FloatArray = NDArray[np.float64]
_Count = TypeVar("_Count", float, NDArray[np.float64])

BOUNDARY = 0.05
"""From this mean on a model may count as discriminating (the benchmark's boundary)."""

SMALLEST_SPREAD = 1e-6
"""A standard deviation of cosines below this is rounding of float32 numbers: the cosines are all equal."""


def discrimination_scores(positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """DS of each row, in [-2, 2].

    Args:
        positives: cosines with the true texts, shape (..., p), p at least 1.
        negatives: cosines with the false texts, shape (..., n), n at least 1.
    """
    scores: FloatArray = positives.max(axis=-1) - negatives.max(axis=-1)
    return scores


def size_matched_scores(positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Expected DS of each row if both sides had equally many texts: the larger side is a random subset of itself.

    The expectation over all subsets is exact (`expected_maximum`). Usually it is the negatives that are more; where a
    vocabulary has fewer of them than there are positives, the positives are the subset.
    """
    size = min(positives.shape[-1], negatives.shape[-1])
    return expected_maximum(positives, size) - expected_maximum(negatives, size)


def expected_maximum(values: FloatArray, size: int) -> FloatArray:
    """Mean of the maximum over all subsets of `size` of the last axis's n values.

    The value of rank r from below is the maximum of C(r - 1, size - 1) of the C(n, size) subsets.

    Raises:
        ValueError: size is not in 1..n.
    """
    n = values.shape[-1]
    if not 1 <= size <= n:
        raise ValueError(f"subsets of {size} cannot be taken from {n} values")
    # Equal to C(r - 1, size - 1) / C(n, size), from the top down and without large numbers.
    shares = np.zeros(n)
    share = size / n
    for rank in range(n, size - 1, -1):
        shares[rank - 1] = share
        share *= (rank - size) / max(rank - 1, 1)
    expected: FloatArray = np.sort(values, axis=-1) @ shares
    return expected


def chance_of_passing(positives: _Count, negatives: _Count) -> _Count:
    """The probability of DS > 0 under exchangeable similarities without ties: p / (p + n); of numbers or of arrays."""
    return positives / (positives + negatives)


def cosine_spread(cosines: NDArray[np.floating[Any]]) -> float | None:
    """Standard deviation of a model's cosines (population form); None where they are all equal up to rounding."""
    spread = float(np.std(cosines, dtype=np.float64))
    return spread if spread >= SMALLEST_SPREAD else None


def cell_class(value: float, lower: float | None, upper: float | None) -> CellClass:
    """What a mean DS with its 95% interval says of a model.

    `collapse_certain`: the upper end is below 0. `collapse`: the mean is at most 0. `discriminates`: the mean is at
    least `BOUNDARY` and the lower end is above 0. `near_chance`: everything else, that is a positive mean below the
    boundary, and also one above it whose interval holds 0 or is unknown, because then chance is not excluded.
    """
    if upper is not None and upper < 0:
        return CellClass.COLLAPSE_CERTAIN
    if value <= 0:
        return CellClass.COLLAPSE
    if value >= BOUNDARY and lower is not None and lower > 0:
        return CellClass.DISCRIMINATES
    return CellClass.NEAR_CHANCE


def ceiling(classes: Mapping[Level, CellClass]) -> Level | None:
    """The first level, the coarsest first, at which a model collapses; None where it collapses at none of them.

    Levels that are absent were not measured and are passed over.
    """
    collapsed = (CellClass.COLLAPSE, CellClass.COLLAPSE_CERTAIN)
    return next((level for level in Level if classes.get(level) in collapsed), None)

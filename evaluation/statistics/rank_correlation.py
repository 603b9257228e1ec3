"""Kendall's tau-b of two rankings of the same models, for all resamples at once.

Tau-b counts pairs of models that both values order alike, minus those that they order the other way round, over the
geometric mean of the numbers of pairs that either orders at all (Kendall, The treatment of ties in ranking problems,
1945). It is 1 for equal rankings, -1 for reversed ones, and has no value where one side orders no pair.
"""

import numpy as np

from evaluation.statistics.bootstrap import FloatArray
from evaluation.statistics.intervals import EQUAL

# Signs of all pairs are held for so many pairs x resamples at a time.
_BLOCK_NUMBERS = 1 << 22


def kendall_tau_b(one: FloatArray, other: FloatArray) -> FloatArray:
    """Tau-b of each column, shape (columns,); NaN where one side orders no pair of models.

    Args:
        one: values by one protocol, shape (models, columns), e.g. replicates; values within `EQUAL` are tied.
        other: values of the same models by another protocol, in the same shape.
    """
    models, columns = one.shape
    first, second = np.triu_indices(models, k=1)
    found: FloatArray = np.full(columns, np.nan)
    size = max(1, _BLOCK_NUMBERS // max(1, len(first)))
    for start in range(0, columns, size):
        block = slice(start, start + size)
        signs = [_signs(values[first, block] - values[second, block]) for values in (one, other)]
        agreeing = (signs[0] * signs[1]).sum(axis=0, dtype=np.float64)
        ordered = np.sqrt(np.prod([np.abs(side).sum(axis=0, dtype=np.float64) for side in signs], axis=0))
        found[block] = np.divide(agreeing, ordered, out=np.full_like(ordered, np.nan), where=ordered > 0)
    return found


def _signs(gaps: FloatArray) -> np.ndarray[tuple[int, ...], np.dtype[np.int8]]:
    return (gaps > EQUAL).astype(np.int8) - (gaps < -EQUAL).astype(np.int8)

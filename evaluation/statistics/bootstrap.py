"""Percentile intervals from resampled queries (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13).

The resampling of a stratum (a task) depends on its name and number of queries alone. All models share it, so the
difference of two models is resampled query by query without further ado, and a value never changes between runs.
How often each query was drawn is one matrix; its product with the values of all models is the whole bootstrap. The
product is float64, so that equal models stay equal: float32 would save little beside the drawing, and its errors could
separate or join models whose means are equal.
"""

import hashlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
_UnsignedArray = NDArray[np.unsignedinteger]

RESAMPLES = 10_000
SEED = 42
LEVEL = 0.95

# Drawing in other blocks would draw other numbers, so this is a part of what the seed means.
_DRAW_NUMBERS = 1 << 18
# Counting is fastest while the counts of a block stay in the processor's cache.
_COUNT_NUMBERS = 1 << 16


def bootstrap_means(values: FloatArray, *, stratum: str, resamples: int = RESAMPLES) -> FloatArray:
    """Means of resampled columns, shape (rows, resamples).

    Beside the result it needs memory for a few hundred thousand numbers, whatever the number of resamples.

    Args:
        values: one row a metric or model, one column a query, shape (rows, n) with n at least 1.
        stratum: name of the task; equal names and n give equal resamples.
        resamples: how often n queries are drawn with replacement.
    """
    rows, n = values.shape
    means: FloatArray = np.empty((rows, resamples))
    start = 0
    for counts in draw_counts(stratum, resamples=resamples, n=n):
        stop = start + len(counts)
        means[:, start:stop] = values @ counts.T
        start = stop
    means /= n
    return means


def replicates(values: FloatArray, *, stratum: str, resamples: int = RESAMPLES) -> FloatArray:
    """The observed means in column 0, followed by `bootstrap_means`; shape (rows, 1 + resamples)."""
    observed = values.mean(axis=1, keepdims=True)
    return np.concatenate([observed, bootstrap_means(values, stratum=stratum, resamples=resamples)], axis=1)


def percentile_interval(means: FloatArray) -> FloatArray:
    """Lower and upper ends of the 95% interval along the last axis, shape (2, ...)."""
    tail = (1 - LEVEL) / 2
    interval: FloatArray = np.quantile(means, [tail, 1 - tail], axis=-1)
    return interval


def draw_counts(stratum: str, *, resamples: int, n: int) -> Iterator[FloatArray]:
    """How often each of n queries is drawn, in blocks of shape (a share of the resamples, n); every row sums to n."""
    for drawn in _draws(stratum, resamples=resamples, n=n):
        yield _weights(drawn, n)


def _draws(stratum: str, *, resamples: int, n: int) -> Iterator[_UnsignedArray]:
    """The numbers of the drawn queries in blocks of shape (a share of the resamples, n)."""
    generator = np.random.default_rng([SEED, n, int.from_bytes(hashlib.sha256(stratum.encode()).digest()[:8])])
    small: type[np.unsignedinteger] = np.uint16 if n <= np.iinfo(np.uint16).max else np.uint32
    size = max(1, _DRAW_NUMBERS // n)
    for start in range(0, resamples, size):
        yield generator.integers(0, n, size=(min(size, resamples - start), n), dtype=small)


def _weights(drawn: _UnsignedArray, n: int) -> FloatArray:
    """How often each query was drawn in each resample, shape (resamples, n); every row sums to n."""
    weights: FloatArray = np.empty((len(drawn), n))
    size = max(1, _COUNT_NUMBERS // n)
    offsets = np.arange(size)[:, np.newaxis] * n
    for start in range(0, len(drawn), size):
        block = drawn[start : start + size]
        places = (block + offsets[: len(block)]).ravel()
        weights[start : start + size] = np.bincount(places, minlength=block.size).reshape(block.shape)
    return weights

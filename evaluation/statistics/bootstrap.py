"""Percentile intervals from resampled queries (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13).

The resampling of a stratum (a task) depends on its name and number of queries alone. All models share it, so the
difference of two models is resampled query by query without further ado, and a value never changes between runs.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

RESAMPLES = 10_000
SEED = 42
LEVEL = 0.95

_BLOCK_NUMBERS = 1 << 21


def bootstrap_means(values: FloatArray, *, stratum: str, resamples: int = RESAMPLES) -> FloatArray:
    """Means of resampled columns, shape (rows, resamples).

    Args:
        values: one row a metric, one column a query, shape (rows, n) with n at least 1.
        stratum: name of the task; equal names and n give equal resamples.
        resamples: how often n queries are drawn with replacement.
    """
    rows, n = values.shape
    generator = np.random.default_rng([SEED, n, int.from_bytes(hashlib.sha256(stratum.encode()).digest()[:8])])
    means: FloatArray = np.empty((rows, resamples))
    size = max(1, _BLOCK_NUMBERS // n)
    for start in range(0, resamples, size):
        stop = min(start + size, resamples)
        means[:, start:stop] = values @ _weights(generator, stop - start, n).T
    means /= n
    return means


def percentile_interval(means: FloatArray) -> FloatArray:
    """Lower and upper ends of the 95% interval along the last axis, shape (2, ...)."""
    tail = (1 - LEVEL) / 2
    interval: FloatArray = np.quantile(means, [tail, 1 - tail], axis=-1)
    return interval


def _weights(generator: np.random.Generator, resamples: int, n: int) -> FloatArray:
    """How often each query was drawn in each resample, shape (resamples, n); every row sums to n."""
    drawn = generator.integers(0, n, size=(resamples, n))
    drawn += np.arange(resamples)[:, np.newaxis] * n
    return np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)

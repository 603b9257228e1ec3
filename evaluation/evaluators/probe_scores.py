"""What every kind of probing task comes to, and the cosines that all of them begin with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.probe_types import FloatArray
from evaluation.statistics.clusters import cluster_estimate
from evaluation.types import FloatMatrix, MetricValue

FloatRows = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ProbeScores:
    """The part of a result that depends on the kind of task; fields as in `ProbeTaskResult`."""

    metrics: tuple[MetricValue, ...]
    chance: float | None
    counts: Mapping[str, int]
    arrays: Mapping[str, FloatArray]
    warnings: tuple[str, ...] = ()


def cosines(images: FloatMatrix, texts: FloatMatrix) -> FloatRows:
    """Cosines of unit float32 rows, shape (images, texts): sums in float64, rounded to float32.

    Equal texts are multiplied once, so that they tie exactly, wherever they stand.
    """
    distinct, column = np.unique(texts, axis=0, return_inverse=True)
    product = images.astype(np.float64) @ distinct.astype(np.float64).T
    rounded: FloatRows = product.astype(np.float32)[:, column.reshape(-1)].astype(np.float64)
    return rounded


def metric_value(name: str, replicates: FloatRows, *, n_clusters: int) -> MetricValue:
    """The observed value, first in `replicates`, with its interval over resamples."""
    found = cluster_estimate(replicates, n_clusters=n_clusters).estimate
    return MetricValue(name=name, value=found.value, lower=found.lower, upper=found.upper)


def empty_resamples_warning(replicates: FloatRows) -> tuple[str, ...]:
    """A sentence where resamples drew none of the images that are used."""
    n_empty = int(np.isnan(replicates[..., 1:]).any(axis=tuple(range(replicates.ndim - 1))).sum())
    if not n_empty:
        return ()
    return (f"{n_empty} of {replicates.shape[-1] - 1} resamples drew no image of a part and have no value there.",)


def whole_numbers(values: Sequence[int]) -> FloatArray:
    """Whole numbers up to 2^24 as the float32 that arrays of a result are stored in, exactly."""
    return np.asarray(values, dtype=np.float32)

"""Means over images that are resampled by cluster: the patients or lesions that several images may share.

The resampling of an anchor set depends on its name and its number of clusters alone, as in `bootstrap`; a cluster that
is drawn counts with all its images. Models, levels, styles and subtypes share it, so that their differences are paired,
and all cells of a set are one matrix product:

    mean_b = sum of drawn counts x sum of values over a cluster / sum of drawn counts x images used of a cluster

A cell that uses some of the images takes its sums over those, under the same draws. A resample may draw none of them;
it then has no mean (NaN). Such resamples are left out of the interval and counted, since nothing was observed in them;
where they are more than `MOST_EMPTY` of all, or the images used are of fewer than two clusters, there is no interval.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evaluation.statistics.bootstrap import RESAMPLES, FloatArray, draw_counts, percentile_interval
from evaluation.statistics.intervals import Estimate

BoolArray = NDArray[np.bool_]
_CountArray = NDArray[np.uint16]

MOST_EMPTY = 0.05
_FEWEST_CLUSTERS = 2

# 64 MiB: one matrix of an anchor set of 3,000 patients. Larger ones are drawn anew for each product.
_KEPT_NUMBERS = 1 << 25


@dataclass(frozen=True, slots=True)
class ClusterEstimate:
    """A mean with its interval, over how many clusters, and how many resamples had no image that it uses."""

    estimate: Estimate
    n_clusters: int
    n_empty: int


def cluster_replicates(
    values: FloatArray,
    *,
    clusters: Sequence[str],
    stratum: str,
    used: BoolArray | None = None,
    resamples: int = RESAMPLES,
) -> FloatArray:
    """The observed means in column 0, then one column a resample; shape (cells, 1 + resamples).

    A resample without any used image is NaN, and so is the whole row of a cell that uses none.

    Args:
        values: one row a cell, one column an image of the anchor set, shape (cells, images).
        clusters: the cluster of each image; clusters are numbered in the order in which they first appear.
        stratum: name of the anchor set; equal names and numbers of clusters give equal resamples.
        used: which images a cell uses, shape (cells, images) or (images,); all of them by default. Values of images
            that are not used are ignored, whatever they are.
        resamples: how often as many clusters as there are are drawn with replacement.

    Raises:
        ValueError: the shapes do not fit, there is no image, or a used value is not finite.
    """
    chosen = np.ones(values.shape, dtype=bool) if used is None else np.broadcast_to(used, values.shape)
    if values.shape[1] != len(clusters) or not len(clusters):
        raise ValueError(f"values of shape {values.shape} do not fit {len(clusters)} images")
    if not np.isfinite(values[chosen]).all():
        raise ValueError("a value of a used image is not finite")
    numbers, n = cluster_numbers(clusters)
    masks, mask_of = np.unique(chosen, axis=0, return_inverse=True)
    rows = np.concatenate([np.where(chosen, values, 0.0), masks.astype(np.float64)])
    per_cluster = _sums_by_cluster(rows, numbers, n)
    sums = np.empty((len(rows), 1 + resamples))
    sums[:, 0] = per_cluster.sum(axis=1)
    _add_resampled_sums(sums[:, 1:], per_cluster, stratum=stratum)
    sizes = sums[len(values) :][mask_of.reshape(-1)] if len(masks) > 1 else sums[len(values) :]
    replicates = sums[: len(values)]
    with np.errstate(invalid="ignore"):
        replicates /= sizes
    return replicates


def cluster_numbers(clusters: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    """The number of each image's cluster, in the order of first appearance, and how many clusters there are."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[name] for name in clusters], dtype=np.intp), len(numbers)


def resampled_weights(clusters: Sequence[str], *, stratum: str, resamples: int = RESAMPLES) -> Iterator[FloatArray]:
    """How often each image counts in each resample, in blocks of shape (a share of the resamples, images).

    For statistics that are no means; the draws are those of `cluster_replicates`.
    """
    numbers, n = cluster_numbers(clusters)
    for counts in draw_counts(stratum, resamples=resamples, n=n):
        yield counts[:, numbers]


def cluster_estimate(replicates: FloatArray, *, n_clusters: int) -> ClusterEstimate:
    """The interval of one row of replicates, or of a function of such rows.

    Args:
        replicates: the observed value, then one value a resample, NaN where it has none; shape (1 + resamples,).
        n_clusters: of how many clusters the used images are.

    Raises:
        ValueError: the observed value is not finite.
    """
    value = float(replicates[0])
    if not np.isfinite(value):
        raise ValueError(f"the observed value is {value}: no image is used")
    filled = replicates[1:][np.isfinite(replicates[1:])]
    n_empty = len(replicates) - 1 - len(filled)
    if n_clusters < _FEWEST_CLUSTERS or n_empty > MOST_EMPTY * (len(replicates) - 1):
        return ClusterEstimate(Estimate(value, None, None), n_clusters, n_empty)
    lower, upper = (float(end) for end in percentile_interval(filled))
    return ClusterEstimate(Estimate(value, min(lower, value), max(upper, value)), n_clusters, n_empty)


def _sums_by_cluster(rows: FloatArray, numbers: NDArray[np.intp], n: int) -> FloatArray:
    if n == len(numbers):
        return rows
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(n))
    sums: FloatArray = np.add.reduceat(rows[:, order], starts, axis=1)
    return sums


def _add_resampled_sums(out: FloatArray, per_cluster: FloatArray, *, stratum: str) -> None:
    n, resamples = per_cluster.shape[1], out.shape[1]
    if n * resamples <= _KEPT_NUMBERS:
        kept = _kept_counts(stratum, n, resamples)
        size = max(1, (1 << 21) // n)
        for start in range(0, resamples, size):
            out[:, start : start + size] = per_cluster @ kept[start : start + size].astype(np.float64).T
        return
    start = 0
    for counts in draw_counts(stratum, resamples=resamples, n=n):
        out[:, start : start + len(counts)] = per_cluster @ counts.T
        start += len(counts)


@lru_cache(maxsize=1)
def _kept_counts(stratum: str, n: int, resamples: int) -> _CountArray:
    """How often each cluster is drawn in each resample, shape (resamples, n): the matrix that all cells of a set share.

    A count is at most n, and n is small enough here for two bytes.
    """
    counts: _CountArray = np.empty((resamples, n), dtype=np.uint16)
    start = 0
    for block in draw_counts(stratum, resamples=resamples, n=n):
        counts[start : start + len(block)] = block
        start += len(block)
    counts.setflags(write=False)
    return counts

"""Means of many cells of one anchor set, with their intervals."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from evaluation.metrics.discrimination import cell_class
from evaluation.statistics.bootstrap import FloatArray
from evaluation.statistics.clusters import cluster_estimate

Resample = Callable[[FloatArray], FloatArray]
"""From scores of shape (cells, anchors), NaN where a cell leaves an anchor out, to replicates (cells, 1 + resamples).

All calls for one anchor set draw the same patients or lesions, so that any two cells of the set are paired. A resample
in which none of a cell's anchors was drawn is NaN.
"""


def with_intervals(cells: pd.DataFrame, replicates: FloatArray) -> pd.DataFrame:
    """The cells with the columns `ds`, `lower`, `upper` and `cell_class`.

    Args:
        cells: one row a cell, with `n_clusters`: of how many patients or lesions its anchors are.
        replicates: one row a cell, in the same order.
    """
    found = [
        cluster_estimate(row, n_clusters=int(count)).estimate
        for row, count in zip(replicates, cells["n_clusters"], strict=True)
    ]
    return cells.assign(
        ds=[mean.value for mean in found],
        lower=pd.Series([mean.lower for mean in found], index=cells.index, dtype=object),
        upper=pd.Series([mean.upper for mean in found], index=cells.index, dtype=object),
        cell_class=[cell_class(mean.value, mean.lower, mean.upper) for mean in found],
    )


def drawn(replicates: FloatArray) -> FloatArray:
    """The columns in which every row has a mean."""
    return replicates[:, np.isfinite(replicates).all(axis=0)]

"""How hard a task is, by what the public baselines reach on it.

A bucket is a range of the baselines' mean Hit@1. The first cut, 3%, is the benchmark's; the other two, 10% and 40%, are
this project's settings, for the benchmark states only how many tasks each of its buckets has. Models that are no
baseline never move a task from one bucket to another.
"""

from collections.abc import Sequence
from enum import StrEnum

import pandas as pd

CUTS = (0.03, 0.10, 0.40)


class Bucket(StrEnum):
    """From hardest to easiest."""

    COLLAPSE = "collapse"
    WEAK = "weak"
    MEDIUM = "medium"
    TRACTABLE = "tractable"


def difficulty_buckets(
    scores: pd.DataFrame, baselines: Sequence[str], *, cuts: tuple[float, float, float] = CUTS
) -> pd.Series:
    """The bucket of each task, from the mean of its baselines' scores: below the first cut it is `collapse`, and so on.

    A task that one of the baselines has no score for has no bucket and is left out: a mean over fewer models would not
    be comparable.

    Args:
        scores: Hit@1 in [0, 1], one row a task, one column a model, NaN where a model has no score.
        baselines: the columns that count.
        cuts: rising shares; a mean equal to a cut belongs to the easier side.

    Raises:
        ValueError: the cuts do not rise, or a baseline is no column.
    """
    if not 0 < cuts[0] < cuts[1] < cuts[2] < 1:
        raise ValueError(f"the cuts {cuts} must rise between 0 and 1")
    missing = [name for name in baselines if name not in scores.columns]
    if missing:
        raise ValueError(f"no scores of the baselines {', '.join(missing)}")
    if not baselines:
        return pd.Series(dtype=object, name="bucket")
    means = scores[list(baselines)].mean(axis=1, skipna=False).dropna()
    edges = [float("-inf"), *cuts, float("inf")]
    buckets = pd.cut(means, bins=edges, right=False, labels=[bucket.value for bucket in Bucket])
    return buckets.astype(object).rename("bucket")

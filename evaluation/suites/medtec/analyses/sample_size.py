"""How many anchors are enough? The same scores, subsampled; nothing is embedded again."""

import hashlib

import numpy as np
import pandas as pd

from evaluation.statistics.bootstrap import SEED, FloatArray
from evaluation.suites.medtec.analyses.facts import ANCHOR_SET
from evaluation.suites.medtec.analyses.intervals import Resample, with_intervals

SIZES = (100, 250, 500, 1_000)


def subsample_order(name: str, n: int) -> np.ndarray:
    """The order in which the `n` anchors of a set are taken: smaller samples are the beginnings of larger ones."""
    digest = int.from_bytes(hashlib.sha256(f"subsamples of {name}".encode()).digest()[:8])
    return np.random.default_rng([SEED, n, digest]).permutation(n)


def sample_size_table(
    cells: pd.DataFrame, scores: FloatArray, *, name: str, clusters: np.ndarray, resample: Resample
) -> pd.DataFrame:
    """The DS, interval, its width, and class of each cell from its first `SIZES` anchors that it has enough for.

    Columns: those of `ANCHOR_SET`, level, n, n_clusters, ds, lower, upper, width, cell_class. All cells take their
    anchors in one order, and the resampling is that of the whole set, so that sizes differ by the anchors alone.

    Args:
        cells: one row a cell of one anchor set, with the columns of `ANCHOR_SET` and level.
        scores: DS of shape (cells, anchors), NaN where a cell leaves an anchor out.
        name: of the anchor set.
        clusters: the patient or lesion of each anchor.
        resample: of the anchor set.
    """
    order = subsample_order(name, scores.shape[1])
    facts, rows = [], []
    for (_, cell), row in zip(cells.iterrows(), scores, strict=True):
        scored = order[np.isfinite(row[order])]
        for size in SIZES:
            if size > len(scored):
                break
            taken = scored[:size]
            facts.append({**cell[[*ANCHOR_SET, "level"]].to_dict(), "n": size, "n_clusters": len(set(clusters[taken]))})
            rows.append(np.full_like(row, np.nan))
            rows[-1][taken] = row[taken]
    if not rows:
        return pd.DataFrame(columns=_COLUMNS)
    table = with_intervals(pd.DataFrame(facts), resample(np.array(rows)))
    ends = table[["lower", "upper"]].astype(float)
    return table.assign(width=ends["upper"] - ends["lower"])[_COLUMNS]


_COLUMNS = [*ANCHOR_SET, "level", "n", "n_clusters", "ds", "lower", "upper", "width", "cell_class"]

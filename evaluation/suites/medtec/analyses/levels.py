"""Where understanding stops. DS by level and modality, the class of each, and the ceiling."""

import pandas as pd

from evaluation.metrics.discrimination import ceiling
from evaluation.suites.medtec.analyses.facts import ANCHOR_SET
from evaluation.vocabulary import CellClass, Level


def level_profile(cells: pd.DataFrame) -> pd.DataFrame:
    """The main cell of each model, modality and level, the coarsest level first.

    Args:
        cells: columns of `ANCHOR_SET`, level, is_main, ds, lower, upper and cell_class.
    """
    return cells[cells["is_main"]].sort_values([*ANCHOR_SET, "level"], kind="stable", ignore_index=True)


def ceilings(profile: pd.DataFrame) -> pd.DataFrame:
    """The first level at which each model collapses on each modality; None where it collapses at none.

    Columns: those of `ANCHOR_SET`, ceiling, and the `levels` that were measured.
    """
    rows = []
    for key, cells in profile.groupby(ANCHOR_SET, sort=False):
        classes = {
            Level(level): CellClass(found) for level, found in zip(cells["level"], cells["cell_class"], strict=True)
        }
        rows.append((*key, ceiling(classes), tuple(classes)))
    return pd.DataFrame(rows, columns=[*ANCHOR_SET, "ceiling", "levels"], dtype=object)

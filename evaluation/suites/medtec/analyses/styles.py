"""Does the phrasing matter? The same anchors and competing findings in several styles, at L4 and L5."""

import pandas as pd

from evaluation.metrics.discrimination import BOUNDARY
from evaluation.suites.medtec.analyses.facts import ANCHOR_SET
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype, PhrasingStyle

STYLED_LEVELS = (Level.L4, Level.L5)


def style_spread(cells: pd.DataFrame) -> pd.DataFrame:
    """How far the style moves the DS of each model, modality and level that has the template and another style.

    Columns: those of `ANCHOR_SET`, level, is_counted, `styles`, `sd` (population standard deviation over the styles'
    mean DS), `lowest` and `highest` mean DS, `collapses_under_template` (mean at most 0), and `stays_below`: the mean
    is below `BOUNDARY` under every style.

    Args:
        cells: columns of `ANCHOR_SET`, level, style, subtype, selection, is_counted and ds.
    """
    chosen = cells[
        cells["level"].isin(STYLED_LEVELS)
        & (cells["subtype"].isna() | (cells["subtype"] == NegationSubtype.MIXED))
        & (cells["selection"] != AnchorSelection.NO_FINDING)
    ]
    rows = []
    for key, group in chosen.groupby([*ANCHOR_SET, "level"], sort=False):
        scores = group.set_index("style")["ds"]
        if PhrasingStyle.TEMPLATE not in scores.index or len(scores) == 1:
            continue
        rows.append(
            {
                **dict(zip([*ANCHOR_SET, "level"], key, strict=True)),
                "is_counted": bool(group["is_counted"].all()),
                "styles": tuple(scores.index),
                "sd": scores.std(ddof=0),
                "lowest": scores.min(),
                "highest": scores.max(),
                "collapses_under_template": bool(scores[PhrasingStyle.TEMPLATE] <= 0),
                "stays_below": bool(scores.max() < BOUNDARY),
            }
        )
    return pd.DataFrame(rows, columns=_COLUMNS)


def style_summary(spread: pd.DataFrame) -> pd.DataFrame:
    """One row over the counted cells: how many there are, collapse under the template, and of those stay below.

    Columns: n_cells, n_collapsing, n_staying_below, and the lowest, median and highest `sd` (missing without cells).
    """
    counted = spread[spread["is_counted"].astype(bool)]
    collapsing = counted[counted["collapses_under_template"].astype(bool)]
    row = {
        "n_cells": len(counted),
        "n_collapsing": len(collapsing),
        "n_staying_below": int(collapsing["stays_below"].sum()),
        "sd_lowest": counted["sd"].min(),
        "sd_median": counted["sd"].median(),
        "sd_highest": counted["sd"].max(),
    }
    return pd.DataFrame([row])


_COLUMNS = [
    *ANCHOR_SET,
    "level",
    "is_counted",
    "styles",
    "sd",
    "lowest",
    "highest",
    "collapses_under_template",
    "stays_below",
]

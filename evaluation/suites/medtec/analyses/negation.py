"""Which kinds of negation fail? How many model x modality cells collapse under each subtype at L5."""

import pandas as pd

from evaluation.vocabulary import AnchorSelection, CellClass, Level, NegationSubtype, PhrasingStyle

WEAKER_ONLY = (NegationSubtype.HEDGED,)
"""Subtypes whose texts are weaker than the finding but not false: they are reported apart from the others."""

_COLLAPSED = (CellClass.COLLAPSE, CellClass.COLLAPSE_CERTAIN)


def negation_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """The cells of the single negation subtypes, polarity not reversed, in the template style."""
    return cells[
        (cells["level"] == Level.L5)
        & cells["subtype"].notna()
        & (cells["subtype"] != NegationSubtype.MIXED)
        & (cells["style"] == PhrasingStyle.TEMPLATE)
        & (cells["selection"] != AnchorSelection.NO_FINDING)
    ]


def negation_counts(cells: pd.DataFrame) -> pd.DataFrame:
    """Counts per subtype over the counted cells, in the order of `NegationSubtype`; subtypes without cells are absent.

    Columns: subtype, `is_weaker_only`, n_cells, n_collapse_certain (the interval is below 0), n_collapsing (the mean
    is at most 0), and `ds_mean`: the mean of the cells' DS.

    Args:
        cells: columns level, style, subtype, selection, is_counted, ds and cell_class.
    """
    chosen = negation_cells(cells)
    chosen = chosen[chosen["is_counted"].astype(bool)]
    rows = []
    for subtype in NegationSubtype:
        group = chosen[chosen["subtype"] == subtype]
        if len(group):
            rows.append(
                {
                    "subtype": subtype,
                    "is_weaker_only": subtype in WEAKER_ONLY,
                    "n_cells": len(group),
                    "n_collapse_certain": int((group["cell_class"] == CellClass.COLLAPSE_CERTAIN).sum()),
                    "n_collapsing": int(group["cell_class"].isin(_COLLAPSED).sum()),
                    "ds_mean": group["ds"].mean(),
                }
            )
    return pd.DataFrame(
        rows, columns=["subtype", "is_weaker_only", "n_cells", "n_collapse_certain", "n_collapsing", "ds_mean"]
    )

"""Which cells of a suite an analysis is about. A cell is one model on one task; tables have one row a cell."""

from collections.abc import Sequence

import pandas as pd

from evaluation.probe_types import ProbeTaskSpec
from evaluation.vocabulary import AnchorSelection, Modality, NegationSubtype, PhrasingStyle

ANCHOR_SET = ["model", "modality", "dataset"]
"""The columns that name one model on one anchor set."""

FLAGS = ("is_main", "is_counted")
"""The columns that say which cells count for what; see `task_facts`."""

COUNTED_MODALITIES = (
    Modality.CHEST_RADIOGRAPH,
    Modality.ABDOMINAL_CT,
    Modality.DERMOSCOPY,
    Modality.FUNDUS,
    Modality.HISTOPATHOLOGY,
    Modality.BRAIN_MRI,
)
"""The modalities of the benchmark; what is counted over all modalities is counted over these."""

SECOND_DATASET = "@"
"""Stands in the name of a task on a modality's second data set, before the data set's name."""


def task_facts(specs: Sequence[ProbeTaskSpec]) -> pd.DataFrame:
    """What the declarations say, one row a task of kind cell.

    Columns: task, modality, dataset, level, style, subtype, selection, data_path, `is_main` (template style, no single
    negation subtype, polarity not reversed: the cell that the level is known by) and `is_counted` (one of the
    benchmark's modalities on its main data set).
    """
    return pd.DataFrame([_facts(spec) for spec in specs])


def _facts(spec: ProbeTaskSpec) -> dict[str, object]:
    return {
        "task": spec.name,
        "modality": spec.modality,
        "dataset": spec.dataset,
        "level": spec.level,
        "style": spec.style,
        "subtype": spec.subtype,
        "selection": spec.selection,
        "data_path": spec.data_path,
        "is_main": spec.style is PhrasingStyle.TEMPLATE
        and spec.subtype in (None, NegationSubtype.MIXED)
        and spec.selection is not AnchorSelection.NO_FINDING,
        "is_counted": spec.modality in COUNTED_MODALITIES and SECOND_DATASET not in spec.name,
    }

"""Does the DS differ between groups of people? Attributes as the publisher gives them, nothing imputed.

A patient's or lesion's draw is shared by all groups, so that the gap of two groups is resampled as a pair. A gap may
come from the groups' mixture of findings as well as from the attribute.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd

from evaluation.errors import SuiteInvalid
from evaluation.statistics.bootstrap import FloatArray
from evaluation.statistics.clusters import cluster_estimate
from evaluation.statistics.intervals import EQUAL
from evaluation.suites.medtec.analyses.facts import ANCHOR_SET
from evaluation.suites.medtec.analyses.intervals import Resample, with_intervals
from evaluation.vocabulary import Level

AGE_CUTS = (40, 60)
"""Years: under 40, from 40 to under 60, and 60 and over. The cut points are a choice of this project."""
AGE_BANDS = ("under_40", "40_to_59", "60_and_over")

FITZPATRICK_GROUPS = {"I": "I-II", "II": "I-II", "III": "III-IV", "IV": "III-IV", "V": "V-VI", "VI": "V-VI"}
"""Fitzpatrick's six skin types in pairs, light, medium and dark, as small collections have few people of some types."""

LEVELS_BY_ATTRIBUTE = {"sex": tuple(Level), "age": tuple(Level), "skin_tone": (Level.L1, Level.L2, Level.L3)}
"""Skin tone is looked at above the findings alone: the collection made for it holds benign lesions only."""

_GROUPS = ["attribute", "group"]


def group_members(anchors: pd.DataFrame) -> pd.DataFrame:
    """Which group of each attribute an anchor is in, one row an anchor, one column an attribute; missing where unknown.

    Args:
        anchors: columns sex and skin_tone (texts, empty where unknown; skin_tone is a Fitzpatrick type, I to VI), and
            age (years, missing where unknown).

    Raises:
        SuiteInvalid: a skin tone is no Fitzpatrick type; the message names it.
    """
    ages = anchors["age"].astype(float)
    bands = np.array(AGE_BANDS, dtype=object)[np.digitize(ages, AGE_CUTS)]
    return pd.DataFrame(
        {
            "sex": anchors["sex"].where(anchors["sex"] != "", None),
            "age": pd.Series(bands, index=anchors.index, dtype=object).where(ages.notna(), None),
            "skin_tone": anchors["skin_tone"].map(_skin_tone_group),
        },
        dtype=object,
    )


def missing_attributes(members: pd.DataFrame) -> pd.DataFrame:
    """How many anchors lack each attribute. Columns: attribute, n_missing, n_anchors."""
    return pd.DataFrame(
        {"attribute": members.columns, "n_missing": members.isna().sum().to_numpy(), "n_anchors": len(members)}
    )


def subgroup_tables(
    cells: pd.DataFrame, scores: FloatArray, anchors: pd.DataFrame, *, resample: Resample
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The DS of each group, and the gaps of all pairs of groups of one attribute.

    The first table has the columns of `ANCHOR_SET`, level, attribute, group, ds, lower, upper, cell_class, n_anchors
    and n_clusters; the second those of `ANCHOR_SET`, level, attribute, group, other, gap (group minus other), lower,
    upper, is_separated, n_anchors and n_anchors_other. An attribute of which all anchors are in one group has no gaps.

    Args:
        cells: one row a cell of one anchor set, with the columns of `ANCHOR_SET` and level.
        scores: DS of shape (cells, anchors), NaN where a cell leaves an anchor out.
        anchors: columns sex, age, skin_tone and cluster, one row an anchor.
        resample: of the anchor set.
    """
    members = group_members(anchors)
    clusters = anchors["cluster"].to_numpy()
    tables, gaps = [], []
    for attribute in members.columns:
        chosen = np.flatnonzero(cells["level"].isin(LEVELS_BY_ATTRIBUTE[attribute]))
        groups = _ordered(attribute, members[attribute])
        found, values = _scored(cells.iloc[chosen], scores[chosen], members[attribute], groups, clusters=clusters)
        if found.empty:
            continue
        replicates = resample(values)
        tables.append(with_intervals(found, replicates))
        gaps.extend(_gaps(tables[-1], replicates))
    return (
        pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=_TABLE_COLUMNS),
        pd.DataFrame(gaps, columns=_GAP_COLUMNS),
    )


def _skin_tone_group(skin_tone: str) -> str | None:
    if skin_tone and skin_tone not in FITZPATRICK_GROUPS:
        raise SuiteInvalid(
            f"{skin_tone!r} is no Fitzpatrick skin type. Correct the column skin_tone of the manifest to one of"
            f" {', '.join(FITZPATRICK_GROUPS)}, or leave it empty."
        )
    return FITZPATRICK_GROUPS.get(skin_tone)


def _ordered(attribute: str, members: pd.Series) -> list[str]:
    """The groups that have anchors: bands and skin tones in their own order, others by name."""
    present = set(members.dropna())
    known: dict[str, Callable[[], list[str]]] = {
        "age": lambda: list(AGE_BANDS),
        "skin_tone": lambda: list(dict.fromkeys(FITZPATRICK_GROUPS.values())),
    }
    order = known[attribute]() if attribute in known else sorted(present)
    return [group for group in order if group in present]


def _scored(
    cells: pd.DataFrame, scores: FloatArray, members: pd.Series, groups: list[str], *, clusters: np.ndarray
) -> tuple[pd.DataFrame, FloatArray]:
    """One row a cell and group that has a score: the facts, and the scores with NaN outside of the group."""
    facts, rows = [], []
    for (_, cell), row in zip(cells.iterrows(), scores, strict=True):
        for group in groups:
            inside = (members == group).to_numpy() & np.isfinite(row)
            if not inside.any():
                continue
            facts.append(
                {
                    **cell[[*ANCHOR_SET, "level"]].to_dict(),
                    "attribute": members.name,
                    "group": group,
                    "n_anchors": int(inside.sum()),
                    "n_clusters": len(set(clusters[inside])),
                }
            )
            rows.append(np.where(inside, row, np.nan))
    return pd.DataFrame(facts), np.array(rows)


def _gaps(table: pd.DataFrame, replicates: FloatArray) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for key, groups in table.groupby([*ANCHOR_SET, "level", "attribute"], sort=False):
        facts = dict(zip([*ANCHOR_SET, "level", "attribute"], key, strict=True))
        rows.extend(facts | _gap(table, replicates, pair) for pair in combinations(groups.index, 2))
    return rows


def _gap(table: pd.DataFrame, replicates: FloatArray, pair: tuple[int, int]) -> dict[str, object]:
    one, other = (table.loc[number] for number in pair)
    gap = cluster_estimate(
        replicates[pair[0]] - replicates[pair[1]], n_clusters=int(table.loc[list(pair), "n_clusters"].min())
    ).estimate
    return {
        "group": one["group"],
        "other": other["group"],
        "gap": gap.value,
        "lower": gap.lower,
        "upper": gap.upper,
        "is_separated": gap.lower is not None and gap.upper is not None and (gap.lower > EQUAL or gap.upper < -EQUAL),
        "n_anchors": one["n_anchors"],
        "n_anchors_other": other["n_anchors"],
    }


_TABLE_COLUMNS = [
    *ANCHOR_SET, "level", *_GROUPS, "n_anchors", "n_clusters", "ds", "lower", "upper", "cell_class",
]  # fmt: skip
_GAP_COLUMNS = [
    *ANCHOR_SET, "level", *_GROUPS, "other", "gap", "lower", "upper", "is_separated", "n_anchors", "n_anchors_other",
]  # fmt: skip

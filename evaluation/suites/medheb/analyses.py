"""What is read from the means of a board: evenness, generalisation and spread. One function each, tables in and out.

Scores are shares in [0, 1]. A table has one row a task or group and one column a model; a column may as well be a
bootstrap resample of one model, which is how intervals are made from the same functions. Except in means, a value that
is missing (NaN) makes what is computed from it missing.
"""

import numpy as np
import pandas as pd

from evaluation.vocabulary import Family, Split

UNDEREXPLORED = (Family.MODALITY_BRIDGING, Family.REGION_GROUNDING)
"""The families of the new clinical relations: modality-bridging and region-level retrieval."""
ESTABLISHED = tuple(family for family in Family if family not in UNDEREXPLORED)
"""All others: image-image, image-text and text-text pairings of whole images, volumes and texts."""
BOTH = "both"


def group_means(scores: pd.DataFrame, groups: pd.Series) -> pd.DataFrame:
    """Mean score per group and model, over the tasks that have a score.

    Args:
        scores: one row a task, one column a model.
        groups: the group of each task, indexed by task; tasks without a group are left out.
    """
    return scores.loc[groups.index].groupby(groups, sort=False).mean()


def overall_score(family_means: pd.DataFrame) -> pd.Series:
    """Mean of the family means, per column, over the families that have one: a family counts the same whatever its size."""
    return family_means.mean()


def coefficient_of_variation(family_means: pd.DataFrame) -> pd.Series:
    """Population standard deviation of the family means over their mean, per column: 0 is perfectly even.

    Missing with fewer than two families and where the mean is 0.
    """
    means = family_means.mean(skipna=False)
    spread = family_means.std(ddof=0, skipna=False) / means.where(means > 0)
    return spread if len(family_means) > 1 else spread * np.nan


def drop_from_established(family_means: pd.DataFrame) -> pd.DataFrame:
    """Mean of the established families' means minus that of the underexplored ones, per column.

    Rows: `both` families together (each counting the same), then each alone. Positive is a drop. A suite may lack
    some established families; without an underexplored one, what needs it is missing.
    """
    established = family_means.loc[[family for family in ESTABLISHED if family in family_means.index]]
    underexplored = family_means.reindex([str(family) for family in UNDEREXPLORED])
    below = pd.concat([underexplored.mean(skipna=False).to_frame(BOTH).T, underexplored])
    return established.mean(skipna=False) - below


def held_out_gap(split_means: pd.DataFrame) -> pd.Series:
    """In-distribution mean minus held-out mean, per column: positive where held-out sources are harder.

    The splits hold different families, so the gap is fairest on means over the families that both splits have.
    """
    own, held_out = (split_means.reindex([str(split)]).iloc[0] for split in (Split.IN_DISTRIBUTION, Split.HELD_OUT))
    return own - held_out


def families_of_both_splits(tasks: pd.DataFrame) -> pd.Series:
    """The split of each task whose family has tasks of both splits.

    Args:
        tasks: columns `family` and `split`, indexed by task.
    """
    splits = tasks.groupby("family")["split"].nunique()
    return tasks.loc[tasks["family"].map(splits) == len(Split), "split"]


def spread_of_models(bucket_means: pd.DataFrame) -> pd.Series:
    """Population standard deviation over models of their means, per row (a difficulty bucket).

    Missing with fewer than two models: one model has no spread.
    """
    spread = bucket_means.std(axis=1, ddof=0, skipna=False)
    return spread if bucket_means.shape[1] > 1 else spread * np.nan


def family_profile(family_means: pd.DataFrame) -> pd.DataFrame:
    """What each model is relatively good at: one row a model and family.

    Columns: model, family, score, `from_own_mean` (score minus the model's mean over families) and `from_mean_of_models`
    (score minus the mean over all models in that family). A model's families without a score are left out.
    """
    named = family_means.rename_axis(index="family", columns="model")
    scores = named.reset_index().melt(id_vars="family", var_name="model", value_name="score").dropna()
    own = scores.groupby("model")["score"].transform("mean")
    others = scores.groupby("family")["score"].transform("mean")
    profile = scores.assign(from_own_mean=scores["score"] - own, from_mean_of_models=scores["score"] - others)
    return profile[["model", "family", "score", "from_own_mean", "from_mean_of_models"]].sort_values(
        "model", kind="stable", ignore_index=True
    )

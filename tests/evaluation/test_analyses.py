"""Each analysis on a table made by hand, with values worked out on paper."""

import numpy as np
import pandas as pd
import pytest

from evaluation.suites.medheb.analyses import (
    BOTH,
    ESTABLISHED,
    coefficient_of_variation,
    drop_from_established,
    families_of_both_splits,
    family_profile,
    group_means,
    held_out_gap,
    overall_score,
    spread_of_models,
)
from evaluation.suites.medheb.baselines import baseline_name, baseline_names, chosen_baselines
from evaluation.suites.medheb.difficulty import difficulty_buckets
from evaluation.vocabulary import Family

NAN = float("nan")

SCORES = pd.DataFrame(
    {"a": [0.2, 0.4, 0.9], "b": [0.1, NAN, 0.5]},
    index=pd.Index(["cls", "t2i", "vqa"], name="task"),
)
GROUPS = pd.Series({"cls": "one", "t2i": "one", "vqa": "two"})

FAMILIES = pd.DataFrame(
    {"even": [0.5] * 8, "uneven": [0.8, 0.8, 0.8, 0.6, 0.6, 0.6, 0.1, 0.3]},
    index=[family.value for family in Family],
)


def test_group_means_cover_the_tasks_that_have_a_score() -> None:
    means = group_means(SCORES, GROUPS)
    assert means["a"].to_dict() == pytest.approx({"one": 0.3, "two": 0.9})
    assert means["b"].to_dict() == pytest.approx({"one": 0.1, "two": 0.5})


def test_tasks_without_a_group_do_not_count() -> None:
    assert group_means(SCORES, GROUPS.drop("t2i")).loc["one", "a"] == pytest.approx(0.2)


def test_the_overall_score_is_the_mean_of_family_means() -> None:
    assert overall_score(FAMILIES).to_dict() == pytest.approx({"even": 0.5, "uneven": 4.6 / 8})


def test_cv_is_the_population_deviation_over_the_mean() -> None:
    """0.2 and 0.6: mean 0.4, population deviation 0.2, so 0.5 (the sample deviation would give 0.707)."""
    table = pd.DataFrame({"a": [0.2, 0.6], "b": [0.3, 0.3], "none": [0.0, 0.0], "part": [0.3, NAN]})
    cv = coefficient_of_variation(table)
    assert cv[["a", "b"]].to_dict() == pytest.approx({"a": 0.5, "b": 0.0})
    assert cv[["none", "part"]].isna().all()
    assert coefficient_of_variation(table.iloc[:1]).isna().all()


def test_the_drop_is_from_six_established_families_to_the_two_others() -> None:
    """uneven: established (3 x 0.8 + 3 x 0.6) / 6 = 0.7; region 0.1, bridging 0.3, together 0.2."""
    assert len(ESTABLISHED) == 6
    drops = drop_from_established(FAMILIES)
    assert drops["uneven"].to_dict() == pytest.approx({BOTH: 0.5, "region_grounding": 0.6, "modality_bridging": 0.4})
    assert drops["even"].tolist() == pytest.approx([0.0, 0.0, 0.0])


def test_without_a_bridging_family_there_is_no_drop_to_it() -> None:
    drops = drop_from_established(FAMILIES.drop("modality_bridging"))["uneven"]
    assert drops["region_grounding"] == pytest.approx(0.6)
    assert drops[["both", "modality_bridging"]].isna().all()


def test_the_gap_is_positive_where_held_out_sources_are_harder() -> None:
    splits = pd.DataFrame({"a": [0.5, 0.3], "b": [0.2, 0.6]}, index=["in_distribution", "held_out"])
    assert held_out_gap(splits).to_dict() == pytest.approx({"a": 0.2, "b": -0.4})
    assert held_out_gap(splits.iloc[:1]).isna().all()


def test_families_of_one_split_are_left_out_of_the_matched_gap() -> None:
    tasks = pd.DataFrame(
        {"family": ["x", "x", "y", "z"], "split": ["in_distribution", "held_out", "in_distribution", "held_out"]},
        index=["t1", "t2", "t3", "t4"],
    )
    assert families_of_both_splits(tasks).to_dict() == {"t1": "in_distribution", "t2": "held_out"}


def test_the_spread_of_models_is_their_population_deviation() -> None:
    """1, 2 and 6 percent: mean 3, squares 4 + 1 + 9 = 14, so the root of 14 / 3 percent."""
    means = pd.DataFrame({"a": [0.01, 0.5], "b": [0.02, 0.5], "c": [0.06, 0.5]}, index=["collapse", "tractable"])
    assert spread_of_models(means).tolist() == pytest.approx([np.sqrt(14 / 3) / 100, 0.0])
    assert spread_of_models(means[["a"]]).isna().all()


def test_a_profile_says_what_a_model_is_relatively_good_at() -> None:
    table = pd.DataFrame({"m": [0.2, 0.6], "n": [0.4, 0.0]}, index=["f", "g"])
    profile = family_profile(table).set_index(["model", "family"])
    assert profile.loc[("m", "g"), "score"] == 0.6
    assert profile["from_own_mean"].tolist() == pytest.approx([-0.2, 0.2, 0.2, -0.2])
    assert profile["from_mean_of_models"].tolist() == pytest.approx([-0.1, 0.3, 0.1, -0.3])


BASELINE_SCORES = pd.DataFrame(
    {
        "one": [0.02, 0.02, 0.10, 0.30, 0.50, 0.90],
        "two": [0.03, 0.04, 0.10, 0.30, 0.30, NAN],
        "visitor": [0.99, 0.99, 0.99, 0.99, 0.99, 0.99],
    },
    index=["t1", "t2", "t3", "t4", "t5", "t6"],
)


def test_buckets_follow_the_mean_of_the_baselines() -> None:
    """Means 2.5%, 3%, 10%, 30%, 40%; a cut belongs to the easier side; t6 lacks a baseline."""
    buckets = difficulty_buckets(BASELINE_SCORES, ["one", "two"])
    assert buckets.to_dict() == {"t1": "collapse", "t2": "weak", "t3": "medium", "t4": "medium", "t5": "tractable"}


def test_no_other_model_moves_a_bucket() -> None:
    with_visitor = difficulty_buckets(BASELINE_SCORES, ["one", "two"])
    without = difficulty_buckets(BASELINE_SCORES[["one", "two"]], ["one", "two"])
    assert with_visitor.equals(without)


def test_the_cuts_are_settings() -> None:
    buckets = difficulty_buckets(BASELINE_SCORES, ["one"], cuts=(0.05, 0.2, 0.6))
    assert buckets.tolist() == ["collapse", "collapse", "weak", "medium", "medium", "tractable"]
    with pytest.raises(ValueError, match="must rise"):
        difficulty_buckets(BASELINE_SCORES, ["one"], cuts=(0.1, 0.1, 0.4))


def test_without_baselines_there_are_no_buckets() -> None:
    assert difficulty_buckets(BASELINE_SCORES, []).empty
    with pytest.raises(ValueError, match="no scores of the baselines absent"):
        difficulty_buckets(BASELINE_SCORES, ["absent"])


def test_the_baselines_are_eight_and_medemb_is_none_of_them() -> None:
    assert len(baseline_names()) == 8
    assert baseline_name("qwen/qwen3-vl-embedding-2b") == "Qwen3-VL-Embedding-2B"
    assert baseline_name("Qwen/Qwen3-VL-Embedding-2B", "somebody/adapter") is None
    assert baseline_name("Qwen/Qwen2-VL-2B-Instruct", "VLM2Vec/VLM2Vec-V2.0") == "VLM2Vec-V2.0"
    assert baseline_name("MEDHEB/MedEmb-8B") is None


def test_the_first_model_of_a_baseline_stands_for_it() -> None:
    models = {
        "first": ("google/medsiglip-448", ""),
        "again": ("google/medsiglip-448", ""),
        "adapted": ("google/medsiglip-448", "somebody/adapter"),
        "other": ("MEDHEB/MedEmb-2B", ""),
    }
    assert chosen_baselines(models) == {"first": "MedSigLIP"}

"""Differences between all models of a board are those that comparing two models finds."""

import numpy as np
import pytest

from evaluation.errors import ResultInvalid
from evaluation.suites.medheb.comparison import compare_models
from evaluation.suites.medheb.differences import paired_differences
from evaluation.types import RankOutcomes
from evaluation.vocabulary import Family
from tests.evaluation.outcomes import outcomes_of, share_of_hits
from tests.evaluation.suite_folders import suite_of, task_spec

SUITE = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL),
    task_spec("OtherLabel", family=Family.IMAGE_TO_LABEL),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
)


def shuffled(seed: int) -> dict[str, RankOutcomes]:
    generator = np.random.default_rng(seed)
    return {spec.name: outcomes_of(generator.integers(0, 2, size=50)) for spec in SUITE.tasks}


def test_they_agree_with_the_comparison_of_two_models() -> None:
    outcomes = {"a": shuffled(1), "b": shuffled(2), "c": shuffled(3)}
    found = paired_differences(SUITE, outcomes, resamples=500)
    assert [(pair.a, pair.b) for pair in found if pair.scope == "overall"] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert len(found) == 3 * 3
    for pair in found:
        rows = compare_models(SUITE, outcomes[pair.a], outcomes[pair.b], resamples=500)
        (expected,) = [row.difference for row in rows if (row.scope, row.key) == (pair.scope, pair.key)]
        assert (pair.value, pair.lower, pair.upper) == pytest.approx((expected.value, expected.lower, expected.upper))


def test_equal_models_differ_by_exactly_nothing() -> None:
    found = paired_differences(SUITE, {"a": shuffled(1), "b": shuffled(1)}, resamples=100)
    assert {(pair.value, pair.lower, pair.upper) for pair in found} == {(0.0, 0.0, 0.0)}


def test_a_model_is_compared_only_where_it_has_every_task() -> None:
    partial = {name: ranks for name, ranks in shuffled(2).items() if name != "OtherLabel"}
    found = paired_differences(SUITE, {"a": shuffled(1), "b": partial}, resamples=100)
    assert [(pair.scope, pair.key) for pair in found] == [("family", "text_to_text")]


def test_the_tasks_in_which_two_models_differ_most_are_named_and_agree_with_the_comparison() -> None:
    a = {name: share_of_hits(share, queries=50) for name, share in (("Label", 0.9), ("OtherLabel", 0.5), ("Pair", 0.4))}
    b = {name: share_of_hits(share, queries=50) for name, share in (("Label", 0.2), ("OtherLabel", 0.5), ("Pair", 0.5))}
    c = {"Pair": share_of_hits(0.0, queries=50)}
    found = [pair for pair in paired_differences(SUITE, {"a": a, "b": b, "c": c}, largest_tasks=2, resamples=300)
             if pair.scope == "task"]  # fmt: skip
    # a and b: 70 points in Label, none in OtherLabel, 10 in Pair; with c only Pair is shared
    assert [(pair.a, pair.b, pair.key, round(pair.value, 2)) for pair in found] == [
        ("a", "b", "Label", 0.7), ("a", "b", "Pair", -0.1), ("a", "c", "Pair", 0.4), ("b", "c", "Pair", 0.5),
    ]  # fmt: skip
    rows = compare_models(SUITE, a, b, resamples=300)
    (expected,) = [row.difference for row in rows if (row.scope, row.key) == ("task", "Label")]
    assert (found[0].lower, found[0].upper) == pytest.approx((expected.lower, expected.upper))


def test_one_model_and_none_have_no_differences() -> None:
    assert paired_differences(SUITE, {"a": shuffled(1)}, resamples=100) == ()
    assert paired_differences(SUITE, {}, resamples=100) == ()


def test_other_pools_cannot_be_paired() -> None:
    other = {spec.name: share_of_hits(0.5, queries=50, pool=9) for spec in SUITE.tasks}
    with pytest.raises(ResultInvalid, match="different queries or pools"):
        paired_differences(SUITE, {"a": shuffled(1), "b": other}, resamples=100)

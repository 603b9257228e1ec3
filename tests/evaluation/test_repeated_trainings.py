"""The difference between two ways to train, each tried several times."""

import numpy as np
import pytest

from evaluation.errors import ResultInvalid
from evaluation.suites.medheb.comparison import compare_models
from evaluation.suites.medheb.repeated_trainings import compare_trainings
from evaluation.types import RankOutcomes
from evaluation.vocabulary import Family
from tests.evaluation.outcomes import outcomes_of, share_of_hits
from tests.evaluation.suite_folders import suite_of, task_spec

SUITE = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL),
    task_spec("OtherLabel", family=Family.IMAGE_TO_LABEL),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
    task_spec("Region", family=Family.REGION_GROUNDING),
)
TASKS = ("Label", "OtherLabel", "Pair")  # the region's task is not installed


def shuffled(seed: int, *, better: float = 0.0) -> dict[str, RankOutcomes]:
    generator = np.random.default_rng(seed)
    return {task: outcomes_of((generator.random(50) < 0.4 + better).astype(int).tolist()) for task in TASKS}


def scores(label: float, other_label: float, pair: float) -> dict[str, RankOutcomes]:
    shares = zip(TASKS, (label, other_label, pair), strict=True)
    return {task: share_of_hits(share, queries=50) for task, share in shares}


def test_one_training_of_each_is_the_comparison_of_two_models() -> None:
    a, b = shuffled(1), shuffled(2, better=0.2)
    found = compare_trainings(SUITE, [a], [b], resamples=500)
    expected = next(row.difference for row in compare_models(SUITE, a, b, resamples=500) if row.scope == "overall")
    assert found.difference == expected
    assert found.by_training == (pytest.approx(expected.value),)


def test_the_mean_of_the_trainings_is_that_of_their_differences() -> None:
    """First 0.7 and 0.4, so 0.55, against 0.5 and 0.2, so 0.35; then 0.6 and 0.3, so 0.45, against 0.7 and 0.4, so 0.55."""
    a = [scores(0.8, 0.6, 0.4), scores(0.6, 0.6, 0.3)]
    b = [scores(0.4, 0.6, 0.2), scores(0.7, 0.7, 0.4)]
    found = compare_trainings(SUITE, a, b, resamples=200)
    assert found.by_training == pytest.approx((0.2, -0.1))
    assert found.difference.value == pytest.approx(0.05)


def test_the_same_models_in_another_order_differ_by_nothing_whatever_is_resampled() -> None:
    one, other = shuffled(1), shuffled(2, better=0.3)
    found = compare_trainings(SUITE, [one, other], [other, one], resamples=200)
    assert found.by_training[0] == pytest.approx(-found.by_training[1])
    assert abs(found.by_training[0]) > 0.1
    assert (found.difference.lower, found.difference.upper) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_the_interval_is_that_of_the_mean_hits_of_each_query() -> None:
    """One task: resampling queries with the mean over trainings of their hits, drawn here by another generator."""
    generator = np.random.default_rng(5)
    hits = (generator.random((4, 400)) < np.array([[0.6], [0.5], [0.5], [0.5]])).astype(int)
    a = [{"Pair": outcomes_of(row.tolist())} for row in hits[:2]]
    b = [{"Pair": outcomes_of(row.tolist())} for row in hits[2:]]
    found = compare_trainings(SUITE, a, b).difference
    gaps = hits[:2].mean(axis=0) - hits[2:].mean(axis=0)
    means = gaps[generator.integers(0, 400, (20_000, 400))].mean(axis=1)
    assert (found.lower, found.upper) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.004)
    one = compare_trainings(SUITE, a[:1], b[:1]).difference
    assert found.upper - found.lower < 0.8 * (one.upper - one.lower)


def test_trainings_that_make_no_pairs_are_refused() -> None:
    whole = shuffled(1)
    partial = {"Pair": whole["Pair"]}
    for a, b in (([], []), ([whole, whole], [whole]), ([whole], [partial])):
        with pytest.raises(ResultInvalid, match="compared in pairs over the same tasks"):
            compare_trainings(SUITE, a, b)

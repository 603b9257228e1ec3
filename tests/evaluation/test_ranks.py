"""Intervals of values and differences, ranks, rank intervals and tie groups, against paper and other code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from evaluation.statistics.bootstrap import replicates
from evaluation.statistics.intervals import difference, estimate
from evaluation.statistics.ranks import rank_intervals, ranks, tie_groups


def column(*values: float) -> np.ndarray:
    return np.array(values)[:, np.newaxis]


def test_equal_values_share_a_rank_and_the_next_counts_them_all() -> None:
    assert ranks(column(0.5, 0.9, 0.5, 0.1))[:, 0].tolist() == [2, 1, 2, 4]


def test_values_that_differ_in_the_last_bits_are_equal() -> None:
    assert ranks(column(0.1 + 0.2, 0.3))[:, 0].tolist() == [1, 1]
    assert ranks(column(0.3, 0.3 + 1e-6))[:, 0].tolist() == [2, 1]


@given(arrays(np.float64, (7, 3), elements=st.integers(0, 5).map(lambda number: number / 5)))
def test_ranks_agree_with_scipy(values: np.ndarray) -> None:
    assert ranks(values).tolist() == stats.rankdata(-values, method="min", axis=0).tolist()


def test_rank_intervals_are_ranks_that_occurred() -> None:
    """40 resamples: model 0 is second in two of them (5%), model 2 is always last."""
    resampled = np.tile(column(0.9, 0.8, 0.1), (1, 40))
    resampled[:2, :2] = [[0.8, 0.8], [0.9, 0.9]]
    found = rank_intervals(np.concatenate([column(0.9, 0.8, 0.1), resampled], axis=1))
    assert found.tolist() == [[1, 2, 3], [1, 1, 3], [2, 2, 3]]


def test_the_observed_rank_is_inside_its_interval() -> None:
    values = np.concatenate([column(0.1, 0.2), np.tile(column(0.9, 0.1), (1, 50))], axis=1)
    assert rank_intervals(values).tolist() == [[2, 1], [1, 1], [2, 2]]


def test_tie_groups_begin_anew_at_the_first_separated_model() -> None:
    """Differences of 0.02 are hidden by noise of 0.05 that is not shared; a step of 0.5 is not."""
    rng = np.random.default_rng(0)
    observed = column(0.90, 0.38, 0.92, 0.40, 0.05)
    values = np.concatenate([observed, observed + rng.normal(0, 0.05, (5, 400))], axis=1)
    assert tie_groups(values).tolist() == [1, 3, 1, 3, 5]


@given(
    arrays(np.float64, (6, 1), elements=st.integers(0, 8).map(lambda number: number / 8)),
    st.integers(0, 1_000),
    st.floats(0.01, 0.3),
)
def test_tie_groups_are_stretches_of_the_ranking(observed: np.ndarray, seed: int, noise: float) -> None:
    values = np.concatenate([observed, observed + np.random.default_rng(seed).normal(0, noise, (6, 60))], axis=1)
    places, groups = ranks(observed)[:, 0], tie_groups(values)
    for leader in set(groups):
        members = places[groups == leader]
        assert members.min() == leader
        between = (places > members.min()) & (places < members.max())
        assert set(groups[between]) <= {leader}


def test_what_is_shared_by_all_models_does_not_hide_a_difference() -> None:
    """Noise that moves both models alike widens both intervals, yet their difference is always 0.02."""
    noise = np.random.default_rng(1).normal(0, 0.2, 400)
    values = np.concatenate([column(0.50, 0.52), column(0.50, 0.52) + noise], axis=1)
    assert tie_groups(values).tolist() == [2, 1]


def test_a_single_model_leads_itself() -> None:
    assert tie_groups(np.full((1, 11), 0.5)).tolist() == [1]
    assert rank_intervals(np.full((1, 11), 0.5)).tolist() == [[1], [1], [1]]


def test_the_probability_counts_a_tie_half() -> None:
    one, other = np.array([0.5, 0.4, 0.5, 0.6, 0.7]), np.array([0.4, 0.5, 0.5, 0.5, 0.5])
    found = difference(one, other)
    assert found.value == pytest.approx(0.1)
    assert found.probability_higher == pytest.approx((0 + 0.5 + 1 + 1) / 4)
    assert not found.is_separated


def test_a_difference_turned_round() -> None:
    rng = np.random.default_rng(2)
    one, other = rng.normal(0.6, 0.01, 501), rng.normal(0.4, 0.01, 501)
    forth, back = difference(one, other), difference(other, one)
    assert (forth.value, forth.lower, forth.upper) == pytest.approx((-back.value, -back.upper, -back.lower))
    assert forth.probability_higher + back.probability_higher == pytest.approx(1)
    assert forth.is_separated
    assert back.is_separated


def test_the_paired_interval_agrees_with_that_of_the_differences_query_by_query() -> None:
    rng = np.random.default_rng(3)
    hits = (rng.random((2, 400)) < [[0.5], [0.45]]).astype(np.float64)
    found = difference(*replicates(hits, stratum="task"))
    reference = stats.bootstrap(
        (hits[0] - hits[1],), np.mean, method="percentile", rng=np.random.default_rng(4)
    ).confidence_interval
    assert (found.lower, found.upper) == pytest.approx(tuple(reference), abs=0.006)


def test_an_interval_needs_a_value_in_every_resample() -> None:
    found = estimate(np.array([0.5, 0.4, np.nan]))
    assert (found.value, found.lower, found.upper) == (0.5, None, None)
    with pytest.raises(ValueError, match="no interval"):
        estimate(np.array([np.nan, 0.4]))
    with pytest.raises(ValueError, match="no difference"):
        difference(np.array([0.5, np.nan]), np.array([0.5, 0.5]))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_a_value_is_inside_of_its_interval(values: list[float]) -> None:
    found = estimate(np.array(values))
    assert found.lower <= found.value <= found.upper

"""Ranking metrics against hand-computed values, scikit-learn, and averages over every order of equal similarities."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from evaluation.metrics.ranking import (
    CUTOFFS,
    adjusted_score,
    chance_level,
    hit,
    hit_at_1_bounds,
    metric_names,
    metric_values,
)
from evaluation.types import RankOutcomes


def outcomes_of(*rows):
    """Rows of (above, tied, relevant, pool)."""
    above, tied, relevant, pool = np.array(rows, dtype=np.int32).reshape(-1, 4).T
    return RankOutcomes(above=above, tied=tied, relevant=relevant, pool=pool)


def values_of(outcomes, query=0):
    return dict(zip(metric_names(), metric_values(outcomes)[:, query], strict=True))


def values_of_order(order, k):
    """All metrics at k of one order, a list of True (relevant) and False, by their textbook definitions."""
    relevant = sum(order)
    top = order[:k]
    ranks = [rank for rank, is_relevant in enumerate(top, start=1) if is_relevant]
    found = len(ranks)
    precision, recall = found / k, found / relevant
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(relevant, k) + 1))
    return {
        f"hit@{k}": float(found > 0),
        f"ndcg@{k}": sum(1 / math.log2(rank + 1) for rank in ranks) / ideal,
        f"precision@{k}": precision,
        f"recall@{k}": recall,
        f"f1@{k}": 2 * precision * recall / (precision + recall) if found else 0.0,
        f"map@{k}": sum(sum(top[:rank]) / rank for rank in ranks) / min(relevant, k),
        f"mrr@{k}": 1 / ranks[0] if ranks else 0.0,
    }


def test_names_cover_seven_metrics_at_three_cutoffs():
    assert len(set(metric_names())) == 21
    assert metric_names()[:3] == ("hit@1", "hit@5", "hit@10")


def test_a_relevant_candidate_in_third_place_by_hand():
    values = values_of(outcomes_of((2, 0, 1, 10)))
    assert values["hit@1"] == 0
    assert values["hit@5"] == 1
    assert values["mrr@5"] == pytest.approx(1 / 3)
    assert values["map@5"] == pytest.approx(1 / 3)
    assert values["ndcg@5"] == pytest.approx(0.5)
    assert values["precision@5"] == pytest.approx(0.2)
    assert values["recall@5"] == 1
    assert values["f1@5"] == pytest.approx(1 / 3)
    assert values["precision@10"] == pytest.approx(0.1)


def test_a_tie_of_four_for_the_first_place_by_hand():
    values = values_of(outcomes_of((0, 3, 1, 8)))
    assert values["hit@1"] == pytest.approx(1 / 4)
    assert values["hit@5"] == 1
    assert values["mrr@5"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert values["ndcg@5"] == pytest.approx((1 + 1 / math.log2(3) + 1 / 2 + 1 / math.log2(5)) / 4)


def test_a_tie_across_the_cutoff_by_hand():
    """Four above and a block of three: place 5 is in, places 6 and 7 are out."""
    values = values_of(outcomes_of((4, 2, 1, 9)))
    assert values["hit@5"] == pytest.approx(1 / 3)
    assert values["recall@5"] == pytest.approx(1 / 3)
    assert values["mrr@5"] == pytest.approx(1 / 3 / 5)


@pytest.mark.parametrize("relevant", [1, 2, 3])
@pytest.mark.parametrize("tied", [0, 1, 2, 4])
@pytest.mark.parametrize("above", [0, 1, 4, 5, 10])
def test_ties_equal_the_average_over_every_order(above, tied, relevant):
    values = values_of(outcomes_of((above, tied, relevant, above + tied + relevant)))
    block = range(tied + relevant)
    orders = [
        [False] * above + [place in places for place in block] for places in itertools.combinations(block, relevant)
    ]
    for k in CUTOFFS:
        for name in values_of_order(orders[0], k):
            average = np.mean([values_of_order(order, k)[name] for order in orders])
            assert values[name] == pytest.approx(average, abs=1e-12), name


def test_ties_equal_the_average_over_all_permutations_of_candidates():
    similarities, relevant = [0.9, 0.5, 0.5, 0.5, 0.1], {2}
    outcomes = outcomes_of((1, 2, 1, 5))
    orders = [
        [candidate in relevant for candidate in sorted(permutation, key=lambda c: -similarities[c])]
        for permutation in itertools.permutations(range(5))
    ]
    for k in CUTOFFS:
        averages = {
            name: np.mean([values_of_order(order, k)[name] for order in orders])
            for name in values_of_order(orders[0], k)
        }
        for name, average in averages.items():
            assert values_of(outcomes)[name] == pytest.approx(average, abs=1e-12)


def test_without_ties_equal_to_scikit_learn():
    generator = np.random.default_rng(7)
    for _ in range(50):
        pool = int(generator.integers(12, 40))
        target = int(generator.integers(pool))
        similarities = generator.permutation(pool).astype(float)
        truth = np.zeros(pool)
        truth[target] = 1
        above = int((similarities > similarities[target]).sum())
        values = values_of(outcomes_of((above, 0, 1, pool)))
        for k in CUTOFFS:
            assert values[f"ndcg@{k}"] == pytest.approx(ndcg_score([truth], [similarities], k=k))
            expected = average_precision_score(truth, similarities) if above < k else 0.0
            assert values[f"map@{k}"] == pytest.approx(expected)
            assert values[f"mrr@{k}"] == pytest.approx(expected)


def test_ndcg_with_ties_equals_scikit_learns_average_over_ties():
    outcomes = outcomes_of((1, 2, 1, 12))
    similarities = [2, *[1] * 3, *[0] * 8]
    truth = [0, 1, *[0] * 10]
    for k in CUTOFFS:
        assert values_of(outcomes)[f"ndcg@{k}"] == pytest.approx(ndcg_score([truth], [similarities], k=k))


ROWS = st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(1, 5), st.integers(0, 30)).map(
    lambda row: (row[0], row[1], row[2], sum(row))
)


@given(st.lists(ROWS, min_size=1, max_size=8))
def test_every_metric_is_in_range_and_grows_with_k_where_it_must(rows):
    values = metric_values(outcomes_of(*rows))
    assert (values >= 0).all()
    assert (values <= 1 + 1e-12).all()
    named = dict(zip(metric_names(), values, strict=True))
    for name in ("hit", "recall", "mrr"):
        assert (named[f"{name}@1"] <= named[f"{name}@5"] + 1e-12).all()
        assert (named[f"{name}@5"] <= named[f"{name}@10"] + 1e-12).all()


@given(st.lists(ROWS, min_size=1, max_size=8))
def test_the_expected_hit_lies_between_its_bounds(rows):
    outcomes = outcomes_of(*rows)
    optimistic, pessimistic = hit_at_1_bounds(outcomes)
    assert pessimistic - 1e-12 <= hit(outcomes, 1).mean() <= optimistic + 1e-12


@given(st.lists(ROWS, min_size=1, max_size=8), st.sampled_from(CUTOFFS))
def test_a_model_that_ties_everything_scores_chance_exactly(rows, k):
    pools = outcomes_of(*rows)
    constant = outcomes_of(*[(0, pool - relevant, relevant, pool) for _, _, relevant, pool in rows])
    assert hit(constant, k).mean() == chance_level(pools, k)


def test_chance_by_hand():
    assert chance_level(outcomes_of((0, 0, 1, 4), (0, 0, 1, 2))) == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert chance_level(outcomes_of((3, 0, 2, 5)), k=2) == pytest.approx(1 - math.comb(3, 2) / math.comb(5, 2))
    assert chance_level(outcomes_of((0, 0, 1, 4)), k=10) == 1


def test_bounds_by_hand():
    assert hit_at_1_bounds(outcomes_of((0, 0, 1, 4), (0, 2, 1, 4), (1, 0, 1, 4), (0, 1, 1, 4))) == (0.75, 0.25)


def test_adjusted_score_by_hand():
    assert adjusted_score(0.625, 0.25) == 0.5
    assert adjusted_score(0.25, 0.25) == 0
    assert adjusted_score(0.0, 0.5) == -1
    with pytest.raises(ValueError, match="chance is 1"):
        adjusted_score(1.0, 1.0)

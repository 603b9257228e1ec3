"""Discrimination Scores against figures worked out by hand, brute force, and their invariances."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.metrics.discrimination import (
    ceiling,
    cell_class,
    chance_of_passing,
    cosine_spread,
    discrimination_scores,
    expected_maximum,
    size_matched_scores,
)
from evaluation.vocabulary import CellClass, Level

cosines = st.floats(-1, 1, width=32)
rows_of = st.integers(1, 7).flatmap(lambda n: arrays(np.float64, (3, n), elements=cosines))


def test_the_best_true_text_against_the_best_false_one():
    positives = np.array([[0.1, 0.5, 0.2, 0.0], [0.3, -0.1, 0.2, 0.1]])
    negatives = np.array([[0.4, 0.2, -0.3], [0.35, 0.3, 0.0]])
    assert discrimination_scores(positives, negatives) == pytest.approx([0.1, -0.05])


def test_size_matched_by_hand():
    # subsets of two of {0, 1, 4}: maxima 1, 4, 4, so 3 on average
    assert size_matched_scores(np.array([[5.0, 2.0]]), np.array([[4.0, 0.0, 1.0]])) == pytest.approx([5 - 3])


def test_fewer_negatives_than_positives_shrink_the_positives():
    # the mean of one of {2, 5} against the only negative
    assert size_matched_scores(np.array([[5.0, 2.0]]), np.array([[1.0]])) == pytest.approx([3.5 - 1])


@given(values=rows_of, data=st.data())
def test_the_expected_maximum_is_that_of_all_subsets(values, data):
    size = data.draw(st.integers(1, values.shape[1]))
    brute = [np.mean([max(subset) for subset in combinations(row, size)]) for row in values]
    assert expected_maximum(values, size) == pytest.approx(brute, abs=1e-12)


def test_the_expected_maximum_by_binomials():
    values = np.arange(10.0)
    expected = sum(comb(rank - 1, 3) / comb(10, 4) * (rank - 1) for rank in range(1, 11))
    assert expected_maximum(values, 4) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("size", [0, 4])
def test_no_subset_of_such_a_size(size):
    with pytest.raises(ValueError, match="3 values"):
        expected_maximum(np.zeros((1, 3)), size)


@given(positives=rows_of, negatives=rows_of, seed=st.integers(0, 99))
def test_the_order_of_texts_does_not_matter(positives, negatives, seed):
    generator = np.random.default_rng(seed)
    shuffled = generator.permutation(positives, axis=1), generator.permutation(negatives, axis=1)
    assert (discrimination_scores(*shuffled) == discrimination_scores(positives, negatives)).all()
    assert size_matched_scores(*shuffled) == pytest.approx(size_matched_scores(positives, negatives), abs=1e-12)


@given(positives=rows_of, negatives=rows_of)
def test_exchanging_the_sides_changes_the_sign(positives, negatives):
    assert discrimination_scores(negatives, positives) == pytest.approx(-discrimination_scores(positives, negatives))
    assert size_matched_scores(negatives, positives) == pytest.approx(
        -size_matched_scores(positives, negatives), abs=1e-12
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_rotating_the_space_and_scaling_vectors_changes_nothing(seed):
    generator = np.random.default_rng(seed)
    images, texts = generator.standard_normal((5, 6)), generator.standard_normal((9, 6))
    rotation, _ = np.linalg.qr(generator.standard_normal((6, 6)))
    scales = generator.uniform(0.1, 10, (9, 1))
    found = discrimination_scores(*np.split(_cosines(images, texts), [4], axis=1))
    changed = _cosines(images @ rotation * 3, texts @ rotation * scales)
    assert discrimination_scores(*np.split(changed, [4], axis=1)) == pytest.approx(found, abs=1e-12)


def _cosines(images, texts):
    return (images / np.linalg.norm(images, axis=1, keepdims=True)) @ (
        texts / np.linalg.norm(texts, axis=1, keepdims=True)
    ).T


@pytest.mark.parametrize(("negatives", "chance"), [(8, 1 / 3), (10, 2 / 7), (4, 1 / 2)])
def test_the_null_of_the_pass_rate(negatives, chance):
    assert chance_of_passing(4, negatives) == pytest.approx(chance)
    similarities = np.random.default_rng(7).standard_normal((40_000, 4 + negatives))
    passed = discrimination_scores(similarities[:, :4], similarities[:, 4:]) > 0
    assert passed.mean() == pytest.approx(chance, abs=4 * np.sqrt(chance * (1 - chance) / len(passed)))


def test_relabelling_the_texts_of_any_model_gives_the_null():
    """Which of the texts count as true is drawn anew for each image; the cosines themselves are far from alike."""
    generator = np.random.default_rng(11)
    similarities = generator.random((20_000, 12)) + np.linspace(0, 5, 12)
    relabelled = generator.permuted(similarities, axis=1)
    passed = discrimination_scores(relabelled[:, :4], relabelled[:, 4:]) > 0
    assert passed.mean() == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / len(passed)))


@pytest.mark.parametrize(
    ("value", "lower", "upper", "expected"),
    [
        (-0.1, -0.2, -0.01, CellClass.COLLAPSE_CERTAIN),
        (-0.1, -0.2, 0.0, CellClass.COLLAPSE),
        (-0.1, None, None, CellClass.COLLAPSE),
        (0.0, -0.1, 0.1, CellClass.COLLAPSE),
        (0.001, -0.1, 0.1, CellClass.NEAR_CHANCE),
        (0.049, 0.04, 0.06, CellClass.NEAR_CHANCE),
        (0.05, 0.01, 0.1, CellClass.DISCRIMINATES),
        (0.08, 0.0, 0.2, CellClass.NEAR_CHANCE),
        (0.08, None, None, CellClass.NEAR_CHANCE),
    ],
)
def test_classes_at_their_boundaries(value, lower, upper, expected):
    assert cell_class(value, lower, upper) is expected


def test_the_ceiling_is_the_first_level_that_collapses():
    passed, failed = CellClass.DISCRIMINATES, CellClass.COLLAPSE
    assert ceiling({Level.L5: failed, Level.L1: passed, Level.L3: CellClass.COLLAPSE_CERTAIN}) is Level.L3
    assert ceiling({Level.L1: passed, Level.L2: CellClass.NEAR_CHANCE}) is None
    assert ceiling({}) is None


def test_the_spread_of_equal_cosines_is_unknown():
    assert cosine_spread(np.full((3, 4), 0.3)) is None
    assert cosine_spread(np.array([1.0, -1.0])) == 1.0

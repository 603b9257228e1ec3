"""Expected maxima against closed forms, published tables and a simulation."""

import numpy as np
import pytest

from evaluation.statistics.normal_maxima import expected_normal_maximum, null_difference


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (1, 0.0),
        (2, 1 / np.sqrt(np.pi)),
        (3, 1.5 / np.sqrt(np.pi)),
        # Table of the expected values of normal order statistics (Harter, Biometrika 48, 1961).
        (4, 1.02938),
        (8, 1.42360),
        (10, 1.53875),
    ],
)
def test_expected_maximum(count, expected):
    assert expected_normal_maximum(count) == pytest.approx(expected, abs=6e-6)


@pytest.mark.parametrize(("negatives", "expected"), [(4, 0.0), (8, -0.39), (10, -0.51)])
def test_the_null_of_four_positives(negatives, expected):
    assert null_difference(4, negatives) == pytest.approx(expected, abs=0.005)


def test_a_simulation_agrees():
    drawn = np.random.default_rng(1).standard_normal((200_000, 14))
    scores = drawn[:, :4].max(axis=1) - drawn[:, 4:].max(axis=1)
    assert null_difference(4, 10) == pytest.approx(scores.mean(), abs=4 * scores.std() / np.sqrt(len(scores)))


def test_nothing_has_no_maximum():
    with pytest.raises(ValueError, match="no largest of 0"):
        null_difference(4, 0)

"""Tau-b against scipy and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kendalltau

from evaluation.statistics import rank_correlation
from evaluation.statistics.rank_correlation import kendall_tau_b


def _column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float64)[:, np.newaxis]


@pytest.mark.parametrize(
    ("one", "other", "tau"),
    [
        ((1, 2, 3), (10, 20, 30), 1.0),
        ((1, 2, 3), (3, 2, 1), -1.0),
        # Pairs: (1,2) alike, (1,3) alike, (2,3) the other way round.
        ((1, 2, 3), (1, 3, 2), 1 / 3),
        # Two of three pairs are ordered on the left, three on the right, and both agree: 2 / sqrt(2 * 3).
        ((1, 1, 2), (1, 2, 3), 2 / np.sqrt(6)),
    ],
)
def test_by_hand(one, other, tau):
    assert kendall_tau_b(_column(*one), _column(*other))[0] == pytest.approx(tau)


def test_a_side_without_order_has_no_tau():
    assert np.isnan(kendall_tau_b(_column(1, 1, 1), _column(1, 2, 3))[0])


def test_values_that_differ_by_rounding_are_tied():
    assert np.isnan(kendall_tau_b(_column(0.3, 0.1 + 0.2), _column(1, 2))[0])


@given(
    arrays.arrays(np.int64, st.tuples(st.just(2), st.integers(2, 9), st.integers(1, 5)), elements=st.integers(0, 4)),
    st.sampled_from([1, 7, 1 << 22]),
)
def test_scipy_agrees_column_by_column(values, block):
    one, other = values.astype(np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_correlation, "_BLOCK_NUMBERS", block)
        found = kendall_tau_b(one, other)
    expected = [kendalltau(*columns).statistic for columns in zip(one.T, other.T, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-12)

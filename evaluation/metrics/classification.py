"""Scores of decisions between two classes, with ties counted half."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


def half_credit(margins: FloatArray) -> FloatArray:
    """The decision for the first of two alternatives: 1 where its margin is positive, 0 where negative, else a half."""
    decisions: FloatArray = (np.sign(margins) + 1) / 2
    return decisions


def correctness(margins: FloatArray, answers: BoolArray) -> FloatArray:
    """1 where the sign of the margin is that of the answer, 0 where it is not, a half for a margin of zero."""
    decisions = half_credit(margins)
    return np.where(answers, decisions, 1 - decisions)


def area_under_curve(scores: FloatArray, truth: BoolArray, weights: FloatArray | None = None) -> FloatArray:
    """Area under the receiver operating characteristic under each row of weights.

    It is the probability that a random positive scores higher than a random negative, a tie counting half (the
    statistic of Mann and Whitney over the product of the class sizes).

    Args:
        scores: shape (n,).
        truth: which are positive, shape (n,).
        weights: how often each counts, shape (rows, n); each once by default.

    Returns:
        One value a row, NaN where a class has no weight.
    """
    order = np.argsort(scores, kind="stable")
    rising, positive = scores[order], truth[order]
    counts = np.ones((1, len(scores))) if weights is None else weights[:, order]
    negatives = np.concatenate([np.zeros((len(counts), 1)), np.cumsum(np.where(positive, 0, counts), axis=1)], axis=1)
    values = rising[positive]
    below = negatives[:, np.searchsorted(rising, values, side="left")]
    not_above = negatives[:, np.searchsorted(rising, values, side="right")]
    own = counts[:, positive]
    wins = np.einsum("ij,ij->i", own, below + not_above) / 2
    pairs = own.sum(axis=1) * negatives[:, -1]
    areas: FloatArray = np.full(len(counts), np.nan)
    np.divide(wins, pairs, out=areas, where=pairs > 0)
    return areas

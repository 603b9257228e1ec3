"""The loss and its gradient against a plain reference in float64, and by hand."""

import math

import numpy as np
import pytest
import torch

from evaluation.training.loss import LossSettings, contrastive_loss, equivalent_pairs_loss


def reference(q: np.ndarray, c: np.ndarray, same: np.ndarray, settings: LossSettings) -> float:
    """The same with loops over numbers."""

    def one_way(rows: np.ndarray, columns: np.ndarray, mask: np.ndarray) -> float:
        total = 0.0
        for i, row in enumerate(rows):
            positive = float(row @ columns[i])
            terms = []
            for j, column in enumerate(columns):
                score = float(row @ column)
                equivalent = settings.mask_equivalent and mask[i, j]
                close = settings.margin is not None and score > positive + settings.margin
                if j == i or not (equivalent or close):
                    terms.append(math.exp(score / settings.temperature))
            total -= math.log(math.exp(positive / settings.temperature) / sum(terms))
        return total / len(rows)

    value = one_way(q, c, same)
    if settings.symmetric:
        value = (value + one_way(c[: len(q)], q, same[:, : len(q)].T)) / 2
    return value


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def numeric_gradient(q: np.ndarray, c: np.ndarray, same: np.ndarray, settings: LossSettings) -> np.ndarray:
    step, gradient = 1e-6, np.zeros_like(q)
    for place in np.ndindex(*q.shape):
        ends = []
        for sign in (1, -1):
            moved = q.copy()
            moved[place] += sign * step
            ends.append(reference(moved, c, same, settings))
        gradient[place] = (ends[0] - ends[1]) / (2 * step)
    return gradient


CASES = [
    LossSettings(temperature=0.1),
    LossSettings(temperature=0.1, mask_equivalent=False),
    LossSettings(temperature=0.2, margin=0.15),
    LossSettings(temperature=0.1, symmetric=True),
    LossSettings(temperature=0.3, symmetric=True, margin=0.05, mask_equivalent=False),
]


@pytest.mark.parametrize("settings", CASES)
@pytest.mark.parametrize("hard", [0, 3])
def test_value_and_gradient_equal_the_reference(settings: LossSettings, hard: int) -> None:
    generator = np.random.default_rng(hard)
    q, c = unit(generator.normal(size=(5, 4))), unit(generator.normal(size=(5 + hard, 4)))
    same = generator.random((5, 5 + hard)) < 0.3
    same[np.arange(5), np.arange(5)] = False
    rows = torch.from_numpy(q).requires_grad_()
    loss = contrastive_loss(rows, torch.from_numpy(c), torch.from_numpy(same), settings)
    assert float(loss.value.detach()) == pytest.approx(reference(q, c, same, settings), rel=1e-9)
    loss.value.backward()
    assert np.abs(rows.grad.numpy() - numeric_gradient(q, c, same, settings)).max() < 1e-6
    if settings.mask_equivalent and settings.margin is None:
        assert loss.masked == pytest.approx(same.sum() / (same.size - 5))


def test_loss_of_two_pairs_by_hand() -> None:
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    positives = torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    # Similarities: [[0.6, 0.0], [0.8, 1.0]]; temperature 1.
    rows = [math.log(1 + math.exp(0.0 - 0.6)), math.log(1 + math.exp(0.8 - 1.0))]
    columns = [math.log(1 + math.exp(0.8 - 0.6)), math.log(1 + math.exp(0.0 - 1.0))]
    nothing = torch.zeros(2, 2, dtype=torch.bool)
    plain = contrastive_loss(queries, positives, nothing, LossSettings(temperature=1.0))
    assert float(plain.value) == pytest.approx(sum(rows) / 2, abs=1e-6)
    assert plain.hardest == pytest.approx((-0.6 - 0.2) / 2, abs=1e-6)
    both = contrastive_loss(queries, positives, nothing, LossSettings(temperature=1.0, symmetric=True))
    assert float(both.value) == pytest.approx((sum(rows) + sum(columns)) / 4, abs=1e-6)


def test_where_all_candidates_are_masked_the_loss_is_zero() -> None:
    rows = torch.eye(3)
    loss = contrastive_loss(rows, rows.roll(1, 0), ~torch.eye(3, dtype=torch.bool), LossSettings())
    assert float(loss.value) == 0.0
    assert (loss.masked, loss.hardest) == (1.0, -1.0)


def test_loss_of_equivalent_pairs_by_hand() -> None:
    queries = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    candidates = torch.tensor([[0.8, 0.6], [0.6, 0.8], [0.0, 1.0]])
    same = torch.tensor([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=torch.bool)
    # Query 0 to candidate 1 (0.6) against candidate 2 (0.0); query 1 to candidate 0 (0.8) against candidate 2 (0.0).
    expected = (math.log(1 + math.exp(-0.6 / 0.5)) + math.log(1 + math.exp(-0.8 / 0.5))) / 2
    assert float(equivalent_pairs_loss(queries, candidates, same, temperature=0.5)) == pytest.approx(expected, rel=1e-6)

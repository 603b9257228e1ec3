"""The contrastive loss against hand computation."""

import math

import pytest
import torch

from evaluation.training.contrastive import false_negatives, symmetric_info_nce


def test_loss_of_two_pairs_by_hand() -> None:
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    positives = torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    # Similarities: [[0.6, 0.0], [0.8, 1.0]]; temperature 1.
    rows = [math.log(1 + math.exp(0.0 - 0.6)), math.log(1 + math.exp(0.8 - 1.0))]
    columns = [math.log(1 + math.exp(0.8 - 0.6)), math.log(1 + math.exp(0.0 - 1.0))]
    expected = (sum(rows) / 2 + sum(columns) / 2) / 2
    nothing = torch.zeros(2, 2, dtype=torch.bool)
    assert float(symmetric_info_nce(queries, positives, nothing, 1.0)) == pytest.approx(expected, abs=1e-6)


def test_masked_entries_leave_the_denominators() -> None:
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    positives = torch.tensor([[0.6, 0.8], [0.0, 1.0]])
    masked = torch.tensor([[False, False], [True, False]])
    # Without 0.8: row 1 and column 0 have their positive alone, so they cost nothing.
    expected = (math.log(1 + math.exp(0.0 - 0.6)) / 2 + math.log(1 + math.exp(0.0 - 1.0)) / 2) / 2
    assert float(symmetric_info_nce(queries, positives, masked, 1.0)) == pytest.approx(expected, abs=1e-6)


def test_equal_positive_query_or_label_is_no_negative() -> None:
    positive = torch.tensor([0, 0, 1, 2])
    query = torch.tensor([0, 1, 2, 2])
    label = torch.tensor([0, 1, 2, 0])
    expected = torch.zeros(4, 4, dtype=torch.bool)
    for one, other in ((0, 1), (2, 3), (0, 3)):
        expected[one, other] = expected[other, one] = True
    assert torch.equal(false_negatives(positive, query, label), expected)

"""The contrastive loss with false negatives masked."""

import torch


def false_negatives(positive_ids: torch.Tensor, query_ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Which positives of a batch are as right for a query as its own, shape (batch, batch), the diagonal False.

    Pair j's positive is no negative of query i where both positives, both queries or both labels are the same.
    """
    same = _equal(positive_ids) | _equal(query_ids) | _equal(labels)
    same.fill_diagonal_(False)
    return same


def _equal(ids: torch.Tensor) -> torch.Tensor:
    return ids[:, None] == ids[None, :]


def symmetric_info_nce(
    queries: torch.Tensor, positives: torch.Tensor, masked: torch.Tensor, temperature: float
) -> torch.Tensor:
    """InfoNCE in both directions (van den Oord et al. 2018; symmetric as in CLIP, Radford et al. 2021).

    `queries` and `positives` have unit-length rows, (batch, dimension); row i of one belongs to row i of the other.
    Entries of `masked` (batch, batch) take no part in the denominators. Returns the mean over both directions.
    """
    logits = (queries @ positives.T / temperature).masked_fill(masked, -torch.inf)
    target = torch.arange(len(queries))
    forward = torch.nn.functional.cross_entropy(logits, target)
    backward = torch.nn.functional.cross_entropy(logits.T, target)
    return (forward + backward) / 2

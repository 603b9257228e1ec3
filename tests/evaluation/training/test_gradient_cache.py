"""Gradients through cached chunks are those of the whole batch, with dropout too."""

import pytest
import torch

from evaluation.training.gradient_cache import Chunk, cached_forward
from evaluation.training.loss import LossSettings, contrastive_loss
from tests.evaluation.training.networks import LetterCounts

CPU = torch.device("cpu")
SIZES = (3, 1, 4, 2)


class Watched(torch.nn.Module):
    """Remembers what its network was asked for, and gave."""

    def __init__(self, network: LetterCounts) -> None:
        super().__init__()
        self.network = network
        self.given: list[torch.Tensor] = []

    def forward(self, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        rows = self.network(tensors["counts"])
        self.given.append(rows)
        return rows


def batch() -> tuple[torch.Tensor, list[Chunk]]:
    counts = torch.rand(sum(SIZES), 26, generator=torch.Generator().manual_seed(3))
    order = torch.randperm(sum(SIZES), generator=torch.Generator().manual_seed(4))
    chunks = [Chunk(part, {"counts": counts[part]}, 10 * len(part)) for part in order.split(list(SIZES))]
    return counts, chunks


def loss_of(vectors: torch.Tensor) -> torch.Tensor:
    same = torch.zeros(5, 5, dtype=torch.bool)
    same[0, 3] = same[2, 1] = True
    return contrastive_loss(vectors[:5], vectors[5:], same, LossSettings(temperature=0.1)).value


def cached_gradients(
    network: LetterCounts, chunks: list[Chunk], kept_tokens: int
) -> tuple[Watched, list[torch.Tensor]]:
    watched = Watched(network)
    forward = cached_forward(watched, chunks, shape=(10, 6), device=CPU, seed=9, kept_tokens=kept_tokens)
    vectors = forward.vectors.requires_grad_()
    (gradients,) = torch.autograd.grad(loss_of(vectors), [vectors])
    forward.backward(gradients)
    found = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    return watched, found


@pytest.mark.parametrize("kept_tokens", [0, 45, 1000])
def test_without_dropout_they_equal_one_pass_over_the_whole_batch(kept_tokens: int) -> None:
    network = LetterCounts(dropout=0.0)
    counts, chunks = batch()
    loss_of(network(counts)).backward()
    expected = [parameter.grad.clone() for parameter in network.parameters()]
    network.zero_grad()
    _, found = cached_gradients(network, chunks, kept_tokens)
    assert max(float((one - other).abs().max()) for one, other in zip(expected, found, strict=True)) < 1e-5


@pytest.mark.parametrize("kept_tokens", [0, 45, 1000])
def test_with_dropout_they_equal_one_pass_with_the_same_numbers_dropped(kept_tokens: int) -> None:
    network = LetterCounts(dropout=0.5).train()
    _, chunks = batch()
    watched, found = cached_gradients(network, chunks, kept_tokens)
    # One pass with gradients over all chunks: what was dropped is known from what the first pass gave.
    masks = [dropped_in(network, chunk, rows) for chunk, rows in zip(chunks, watched.given, strict=False)]
    vectors = torch.zeros(10, 6)
    for chunk, mask in zip(chunks, masks, strict=True):
        hidden = torch.tanh(chunk.tensors["counts"] @ network.first) * mask
        vectors = vectors.index_add(0, chunk.positions, torch.nn.functional.normalize(hidden @ network.second, dim=1))
    loss_of(vectors).backward()
    expected = [parameter.grad for parameter in network.parameters()]
    assert max(float((one - other).abs().max()) for one, other in zip(expected, found, strict=True)) < 1e-5


def dropped_in(network: LetterCounts, chunk: Chunk, rows: torch.Tensor) -> torch.Tensor:
    """The mask of dropout (0 or 2) that explains the rows: twelve hidden numbers, so every mask is tried."""
    with torch.no_grad():
        hidden = torch.tanh(chunk.tensors["counts"] @ network.first)
        every = torch.cartesian_prod(*[torch.tensor([0.0, 2.0])] * 12)
        masks = []
        for one, row in zip(hidden, rows, strict=True):
            tried = torch.nn.functional.normalize((every * one) @ network.second, dim=1)
            masks.append(every[(tried - row).abs().amax(dim=1).argmin()])
        return torch.stack(masks)


def test_chunks_that_are_kept_are_embedded_once() -> None:
    network = LetterCounts(dropout=0.5).train()
    _, chunks = batch()
    assert len(cached_gradients(network, chunks, 0)[0].given) == 8
    # The first two chunks have 40 padded tokens together, the first three 80.
    assert len(cached_gradients(network, chunks, 45)[0].given) == 6
    assert len(cached_gradients(network, chunks, 1000)[0].given) == 4


def test_random_numbers_elsewhere_are_left_as_they_were() -> None:
    network = LetterCounts(dropout=0.5).train()
    _, chunks = batch()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    cached_gradients(network, chunks, 0)
    assert torch.equal(torch.rand(3), expected)


def test_accumulating_over_small_batches_is_not_the_same() -> None:
    network = LetterCounts(dropout=0.0)
    counts, _ = batch()
    loss_of(network(counts)).backward()
    whole = network.first.grad.clone()
    network.zero_grad()
    for part in (slice(0, 2), slice(2, 5)):
        same = torch.zeros(part.stop - part.start, part.stop - part.start, dtype=torch.bool)
        rows = network(counts)
        loss = contrastive_loss(rows[:5][part], rows[5:][part], same, LossSettings(temperature=0.1))
        (loss.value * len(same) / 5).backward()
    assert float((network.first.grad - whole).abs().max()) > 1e-2

"""Gradient caching: a loss over more inputs than fit into memory at once (Gao et al. 2021, arXiv 2101.06983).

A contrastive loss compares every input of a batch with every other, so accumulating gradients over small batches is not
the same: it has fewer negatives. Here chunks are embedded without keeping what a gradient needs, the loss gives the
gradient of every vector, and each chunk is embedded once more to carry its vectors' gradients to the parameters. Dropout
must drop the same in both passes, so each chunk begins with a random state of its own. Chunks that fit into memory keep
what they need and are not embedded twice.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from evaluation.training.trainable import Tensors

Forward = Callable[[Tensors], torch.Tensor]

_SEEDS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Chunk:
    """Inputs that go through the network together: where their vectors belong in the batch, and the tensors."""

    positions: torch.Tensor
    tensors: Tensors
    padded_tokens: int


@dataclass(slots=True)
class CachedForward:
    """Vectors of a batch, and how their gradients reach the parameters."""

    vectors: torch.Tensor
    _forward: Forward
    _chunks: Sequence[Chunk]
    _seeds: Sequence[int]
    _kept: dict[int, torch.Tensor] = field(default_factory=dict)

    def backward(self, gradients: torch.Tensor) -> None:
        """Add to each parameter's gradient what `gradients` of the vectors, of their shape, mean for it."""
        for number, (chunk, seed) in enumerate(zip(self._chunks, self._seeds, strict=True)):
            rows = self._kept.pop(number, None)
            if rows is None:
                with _seeded(seed, gradients.device):
                    rows = self._forward(chunk.tensors)
            torch.autograd.backward(rows, gradients[chunk.positions.to(gradients.device)].to(rows.dtype))


def cached_forward(
    forward: Forward,
    chunks: Sequence[Chunk],
    *,
    shape: tuple[int, int],
    device: torch.device,
    seed: int,
    kept_tokens: int,
) -> CachedForward:
    """Embed a batch chunk by chunk.

    Args:
        forward: gives the vectors of a chunk, with gradients.
        chunks: together every position of the batch once, their tensors on the device.
        shape: (inputs of the batch, dimension).
        device: where vectors are.
        seed: of the batch's dropout, which then depends on nothing else.
        kept_tokens: chunks are kept for the backward pass as long as their padded tokens together are at most this.
    """
    vectors = torch.zeros(shape, device=device)
    seeds = [(seed * 1_000_003 + number) % _SEEDS for number in range(len(chunks))]
    cached = CachedForward(vectors, forward, chunks, seeds)
    tokens = 0
    for number, chunk in enumerate(chunks):
        tokens += chunk.padded_tokens
        keep = tokens <= kept_tokens
        with torch.set_grad_enabled(keep), _seeded(seeds[number], device):
            rows = forward(chunk.tensors)
        vectors[chunk.positions.to(device)] = rows.detach().float()
        if keep:
            cached._kept[number] = rows  # noqa: SLF001 - this function is its constructor
    return cached


@contextmanager
def _seeded(seed: int, device: torch.device) -> Iterator[None]:
    """Random numbers from `seed` inside, and outside as if nothing had happened.

    torch.manual_seed would also note the seed for every kind of device that is not there, more with each call.
    """
    generators = [torch.default_generator]
    if device.type == "cuda":
        generators.append(torch.cuda.default_generators[device.index or 0])
    states = [generator.get_state() for generator in generators]
    for generator in generators:
        generator.manual_seed(seed)
    try:
        yield
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)

"""Token-budgeted dynamic batching: which process takes which records, and which inputs go through the network together.

The sequences of a batch are its window: queries, positives and hard negatives are sorted by their real tokens, text and
visual, and packed into chunks whose padded size stays under a budget. Short labels never wait for long reports, and the
loss still compares everything in the batch with everything else, because chunks are joined by gradient caching.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.embedding.batching import BatchLimits, InputSize, pack, padded_tokens
from evaluation.training.sources import Positions

_NO_LIMIT = 2**31


@dataclass(frozen=True, slots=True)
class Packing:
    """Chunks as positions of the sequences, with real tokens and tokens including padding of each chunk."""

    chunks: tuple[tuple[int, ...], ...]
    tokens: tuple[int, ...]
    padded: tuple[int, ...]


def pack_sequences(token_counts: Sequence[int], *, budget: int) -> Packing:
    """Chunks of at most `budget` padded tokens; a longer sequence makes a chunk of its own."""
    sizes = [InputSize(max(count, 1)) for count in token_counts]
    chunks = pack(sizes, BatchLimits(inputs=_NO_LIMIT, images=_NO_LIMIT, tokens=budget))
    return Packing(
        chunks=tuple(map(tuple, chunks)),
        tokens=tuple(sum(sizes[position].tokens for position in chunk) for chunk in chunks),
        padded=tuple(padded_tokens([sizes[position] for position in chunk]) for chunk in chunks),
    )


def deal(members: Positions, estimates: np.ndarray, *, processes: int, process: int) -> Positions:
    """The records of a batch that one of several processes takes; together they take each exactly once.

    The longest go first, each to the process with the least work so far that may still take one, so that no process
    waits long for another. Every process comes to the same answer without asking the others.

    Args:
        members: positions of the batch's records.
        estimates: the estimated tokens of each of them.
        processes: how many there are.
        process: which one asks, from 0.
    """
    most = -(-len(members) // processes)
    work, taken = np.zeros(processes, dtype=np.int64), np.zeros(processes, dtype=np.int64)
    mine = []
    for place in np.argsort(-estimates, kind="stable"):
        free = np.flatnonzero(taken < most)
        chosen = free[np.argmin(work[free])]
        work[chosen] += estimates[place]
        taken[chosen] += 1
        if chosen == process:
            mine.append(place)
    return members[sorted(mine)]

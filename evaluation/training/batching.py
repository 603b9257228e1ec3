"""Token-budgeted dynamic batching: which process takes which records, and which inputs go through the network together.

The sequences of a batch are its window: queries, positives and hard negatives are sorted by their real tokens, text and
visual, and packed into chunks whose padded size stays under a budget. Short labels never wait for long reports, and the
loss still compares everything in the batch with everything else, because chunks are joined by gradient caching.

Where to cut the sorted sequences is found exactly, by dynamic programming over a price for each chunk: a high price gives
few chunks with more padding, a low one many with less. The highest price that keeps padding small is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.training.sources import Positions

MAX_PADDING = 0.04

_NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True)
class Packing:
    """Chunks as positions of the sequences, with real tokens and tokens including padding of each chunk."""

    chunks: tuple[tuple[int, ...], ...]
    tokens: tuple[int, ...]
    padded: tuple[int, ...]


def pack_sequences(token_counts: Sequence[int], *, budget: int) -> Packing:
    """Chunks of at most `budget` padded tokens, with at most `MAX_PADDING` of padding in all; few chunks under these.

    A sequence longer than the budget makes a chunk of its own.
    """
    counts = np.maximum(np.array(token_counts, dtype=np.int64), 1)
    order = np.argsort(-counts, kind="stable")
    lengths = counts[order]
    price = budget
    while True:
        chunks = [order[start:end] for start, end in _cheapest(lengths, budget=budget, price=price)]
        padded = tuple(int(len(chunk) * counts[chunk[0]]) for chunk in chunks)
        if not price or sum(padded) - counts.sum() <= MAX_PADDING * sum(padded):
            tokens = tuple(int(counts[chunk].sum()) for chunk in chunks)
            return Packing(tuple(tuple(chunk.tolist()) for chunk in chunks), tokens, padded)
        price //= 2


def _cheapest(lengths: np.ndarray, *, budget: int, price: int) -> list[tuple[int, int]]:
    """Consecutive stretches (start, end) of falling lengths for which padded tokens and `price` a stretch are least."""
    if len(lengths) and lengths[0] == lengths[-1]:
        rows = max(budget // int(lengths[0]), 1)
        return [(start, min(start + rows, len(lengths))) for start in range(0, len(lengths), rows)]
    costs = np.zeros(len(lengths) + 1, dtype=np.int64)
    begins = np.zeros(len(lengths) + 1, dtype=np.int64)
    for end in range(1, len(lengths) + 1):
        padded = np.arange(end, 0, -1) * lengths[:end]
        allowed = padded <= budget
        allowed[end - 1] = True
        total = np.where(allowed, costs[:end] + padded + price, _NO_LIMIT)
        begins[end] = int(np.argmin(total))
        costs[end] = total[begins[end]]
    stretches = []
    end = len(lengths)
    while end:
        stretches.append((int(begins[end]), end))
        end = int(begins[end])
    return stretches[::-1]


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
    if processes == 1:
        return members
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

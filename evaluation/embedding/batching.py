"""Which inputs go through a model together: batches under a budget, with little padding.

A batch costs its rows times its longest row, because shorter rows are padded. Rows are therefore sorted by length, and
a batch ends when it reaches a limit, or when padding would waste more than `MAX_WASTE` of it and it is large enough to
keep a processor busy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_WASTE = 0.03

_SMALLEST_SHARE = 32  # a batch of less than this part of the budget is not worth ending early


@dataclass(frozen=True, slots=True)
class InputSize:
    """What one input adds to a batch: tokens of its row (0 where nothing is padded) and decoded images."""

    tokens: int
    images: int = 0


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most that a batch may hold; a single input that is larger makes a batch of its own.

    `tokens` bounds rows times longest row.
    """

    inputs: int = 1024
    images: int = 64
    tokens: int = 4_096

    def halved(self) -> "BatchLimits":
        """Half of everything, at least one of each."""
        return BatchLimits(max(1, self.inputs // 2), max(1, self.images // 2), max(1, self.tokens // 2))


@dataclass(slots=True)
class _OpenBatch:
    """A batch that is being filled with rows of falling length, so its first row is its longest."""

    longest: int
    rows: int = 0
    tokens: int = 0
    images: int = 0
    inputs: int = 0

    def add(self, size: InputSize) -> None:
        self.rows += size.tokens > 0
        self.tokens += size.tokens
        self.images += size.images
        self.inputs += 1

    def takes(self, size: InputSize, limits: BatchLimits) -> bool:
        padded = (self.rows + (size.tokens > 0)) * self.longest
        if self.inputs == limits.inputs or self.images + size.images > limits.images or padded > limits.tokens:
            return False
        wasted = padded - self.tokens - size.tokens
        return wasted <= MAX_WASTE * padded or self.rows * self.longest * _SMALLEST_SHARE < limits.tokens


def pack(sizes: Sequence[InputSize], limits: BatchLimits) -> list[list[int]]:
    """Positions of `sizes` in batches, the longest rows first; each position stands in one batch.

    Equal sizes keep their order, so the same sizes in the same order give the same batches.
    """
    batches: list[list[int]] = []
    batch: _OpenBatch | None = None
    for position in sorted(range(len(sizes)), key=lambda position: -sizes[position].tokens):
        size = sizes[position]
        if batch is None or not batch.takes(size, limits):
            batch = _OpenBatch(longest=size.tokens)
            batches.append([])
        batch.add(size)
        batches[-1].append(position)
    return batches


def padded_tokens(sizes: Sequence[InputSize]) -> int:
    """What a batch of these sizes costs: its rows times its longest row."""
    rows = [size.tokens for size in sizes if size.tokens]
    return len(rows) * max(rows, default=0)

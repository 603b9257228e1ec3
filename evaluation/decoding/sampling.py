"""Even sampling of slices."""

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")


def even_positions(count: int, limit: int) -> list[int]:
    """At most `limit` distinct positions out of `count`, evenly spread, first and last included.

    Whole-number arithmetic, so that a rerun on any machine picks the same slices.
    """
    if count <= limit:
        return list(range(count))
    steps = limit - 1
    return [(2 * i * (count - 1) + steps) // (2 * steps) for i in range(limit)]


def sample_evenly(items: Sequence[Item], limit: int) -> list[Item]:
    """The items at `even_positions`."""
    return [items[position] for position in even_positions(len(items), limit)]

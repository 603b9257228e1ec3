"""Ranks by value alone, where no statistics say more."""

from collections.abc import Mapping
from uuid import UUID

EQUAL_DECIMALS = 9
"""Means that agree to this many decimals are equal: sums in another order differ in the last bits."""


def competition_ranks(values: Mapping[UUID, float]) -> dict[UUID, int]:
    """Rank 1 for the largest; equal values share a rank and the next one counts them all (1, 2, 2, 4)."""
    rounded = {key: round(value, EQUAL_DECIMALS) for key, value in values.items()}
    first_place: dict[float, int] = {}
    for place, value in enumerate(sorted(rounded.values(), reverse=True), start=1):
        first_place.setdefault(value, place)
    return {key: first_place[value] for key, value in rounded.items()}

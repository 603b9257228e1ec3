"""Parts of long lists."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Slice(Generic[Row]):
    """Some items of a list, and how many items all of it has."""

    items: tuple[Row, ...]
    count: int


def cut(found: QuerySet[Any], make: Callable[[Any], Row], *, limit: int, offset: int) -> Slice[Row]:
    """Items from `offset` on, at most `limit`, each made from its row. Two queries."""
    return Slice(tuple(make(one) for one in found[offset : offset + limit]), found.count())

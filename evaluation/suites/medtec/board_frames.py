"""Tables as the rows of a board."""

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Row = TypeVar("Row", bound="DataclassInstance")


def joined(tables: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """All rows of all tables; without any, an empty table of these columns."""
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame(columns=list(columns))


def columns_of(kind: type["DataclassInstance"]) -> list[str]:
    """The columns that make a row."""
    return [field.name for field in dataclasses.fields(kind)]


def rows_of(kind: type[Row], table: pd.DataFrame) -> tuple[Row, ...]:
    """One row object a row of the table, from the columns that the class has; what is missing becomes None."""
    names = columns_of(kind)
    return tuple(
        kind(**dict(zip(names, map(_plain, row), strict=True))) for row in table[names].itertuples(index=False)
    )


def _plain(value: Any) -> Any:
    """A Python value: numbers of numpy and members of an enum become plain, NaN becomes None."""
    if isinstance(value, tuple):
        return tuple(_plain(part) for part in value)
    if pd.isna(value):
        return None
    if isinstance(value, str):
        return str(value)
    return value.item() if hasattr(value, "item") else value

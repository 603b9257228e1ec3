"""Columns that draw rows: a board chooses among them, sorts by one, and makes the cells of the rows that it shows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest

from leaderboard.views import figures
from leaderboard.views.sheets import Cell, Column, Group, Sheet

ALWAYS = "model"
"""The key of the column that cannot be left out: it says whose row it is."""


def nothing(*, style: str = "none", width: int = 1, title: str = "") -> Cell:
    """A cell without a value, for so many CSV columns; `title` says why."""
    return Cell(text=figures.NOTHING, sort=None, data=(None,) * width, style=style, title=title)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A column with how its cells are made: of a row, and of what guessing would give, where a board shows that.

    `heading` is what it is listed under where columns are chosen; `is_default`: it is shown if nothing is chosen.
    """

    column: Column
    cell: Callable[[Any], Cell]
    chance: Callable[[], Cell] = nothing
    heading: str = "Scores"
    is_default: bool = True


def chosen_columns(drawn: Sequence[Drawn], keys: Sequence[str]) -> tuple[Drawn, ...]:
    """The columns of these keys in the board's order, with the model's; without keys those shown by default.

    Raises:
        BadRequest: the board has no such column.
    """
    known = [one.column.key for one in drawn]
    for key in keys:
        if key not in known:
            raise BadRequest(f"There is no column {key!r}; there are {', '.join(known)}.")
    return tuple(
        one for one in drawn if (one.column.key in keys or one.column.key == ALWAYS if keys else one.is_default)
    )


def ordered_rows(drawn: Sequence[Drawn], rows: Sequence[Any], order: str) -> list[Any]:
    """Rows in the order of a column's key, downwards with a minus before it; those without a value come last.

    Raises:
        BadRequest: the board has no such column.
    """
    if not order:
        return list(rows)
    key, downwards = order.removeprefix("-"), order.startswith("-")
    column = next((one for one in drawn if one.column.key == key), None)
    if column is None:
        known = ", ".join(one.column.key for one in drawn)
        raise BadRequest(f"There is no column {key!r} to sort by; there are {known}.")
    values = [(column.cell(row).sort, row) for row in rows]
    known_rows = sorted((pair for pair in values if pair[0] is not None), key=lambda pair: pair[0], reverse=downwards)
    return [row for _, row in known_rows] + [row for value, row in values if value is None]


def drawn_sheet(
    caption: str, drawn: Sequence[Drawn], groups: Sequence[tuple[str, Sequence[Any]]], *, reference: str = ""
) -> Sheet:
    """The cells of groups of rows; with `reference`, a last group of that title says what guessing gives."""
    shown = [
        Group(title, tuple(tuple(one.cell(row) for one in drawn) for row in rows)) for title, rows in groups if rows
    ]
    if reference and shown:
        shown.append(Group(reference, (tuple(one.chance() for one in drawn),)))
    return Sheet(caption, tuple(one.column for one in drawn), tuple(shown))

"""How boards of probing suites are written as answers: the only file of the API that knows what their rows look like."""

from collections.abc import Iterable
from typing import Any

from ninja import Schema
from pydantic import Field

from leaderboard.api.board_answers import ModelOnBoard, OfBoard, OfSuite, of_board
from leaderboard.api.operations import Listing
from leaderboard.models.vocabulary import CellClass, Level, Modality, PhrasingStyle, ProbeBoardScope
from leaderboard.selectors.board_tables import Currency
from leaderboard.selectors.catalogue import SuiteSummary
from leaderboard.selectors.probe_board_rows import ProbeBoardRow
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell
from leaderboard.selectors.published import PublishedModel


class CellValue(Schema):
    """What a model reached in one cell; `/boards/{suite}/cells` says more of it."""

    task: str
    ds: float = Field(description="Discrimination Score: a difference of cosines.")
    lower: float | None
    upper: float | None
    cell_class: CellClass


class CellAnswer(CellValue):
    """One model on one modality, level and style: its Discrimination Score (DS) with what the board says of it."""

    model: ModelOnBoard
    modality: Modality
    dataset: str
    level: Level
    style: PhrasingStyle
    subtype: str | None
    selection: str
    failure_rate: float
    pass_rate_adjusted: float
    n_anchors: int
    rank: int
    rank_lower: int
    rank_upper: int
    tie_group: int
    ceiling: str | None = Field(description="The first level at which the model collapses on this modality, if any.")
    is_contaminated: bool = Field(description="Whether the model is known to be trained on these images.")


class CellsAnswer(OfSuite, Listing[CellAnswer]):
    """The cells of a probing suite."""


class CellCountAnswer(Schema):
    """In how many cells a model tells descriptions apart, of those that it was measured in."""

    n_told_apart: int
    n_measured: int


class ProbeBoardRowAnswer(Schema):
    """One published run. The rank is null where cells are missing; equal counts share it."""

    model: ModelOnBoard
    rank: int | None
    count: CellCountAnswer
    n_expected: int = Field(description="In how many cells of the board's count any model was measured.")
    cells: dict[str, CellValue] = Field(
        description="By level on a modality's board, where L5-no_finding is negation on images without a finding;"
        " by modality on a level's; none on the overview."
    )
    ceilings: dict[str, Level | None] = Field(
        description="By modality, the first level at which the model collapses, null for none; not on a level's board."
    )
    contaminated_tasks: list[str] = Field(description="Tasks behind the row whose data the model was trained on.")
    clean_count: CellCountAnswer | None = Field(description="The count without them; null where cells are missing.")
    clean_rank: int | None = Field(description="The place by its share among the rows that have a cell left.")


class ProbeBoardAnswer(OfBoard, Listing[ProbeBoardRowAnswer]):
    """A board of a probing suite: ranked rows, then the others, as of the moment when its statistics were made."""

    scope: ProbeBoardScope


def cell_answer(
    cell: ProbeCell, *, model: PublishedModel, ceiling: Ceiling | None, is_contaminated: bool
) -> dict[str, Any]:
    """A cell of a model, with where the model stops on its modality."""
    added = {"model": model, "ceiling": ceiling.ceiling if ceiling else None, "is_contaminated": is_contaminated}
    return {name: getattr(cell, name) for name in CellAnswer.model_fields if name not in added} | added


def probe_board_answer(
    suite: SuiteSummary, name: tuple[ProbeBoardScope, str], currency: Currency, rows: Iterable[ProbeBoardRow]
) -> dict[str, Any]:
    """A board with some of its rows."""
    return of_board(suite, name, currency) | {"items": [_row_answer(row) for row in rows]}


def _row_answer(row: ProbeBoardRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "rank": row.rank,
        "count": row.count,
        "n_expected": row.n_expected,
        "cells": row.cells,
        "ceilings": {place: found.ceiling for place, found in row.ceilings.items()},
        "contaminated_tasks": row.contaminated,
        "clean_count": row.clean,
        "clean_rank": row.clean_rank,
    }

"""A board of a probing suite as the document that a worker stores and a page reads."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime
from typing import Any

from leaderboard.models.vocabulary import ProbeBoardScope
from leaderboard.selectors.board_documents import model_document, model_of_document
from leaderboard.selectors.board_rows import Cost
from leaderboard.selectors.probe_board_rows import CellCount, ProbeBoardRow, ProbeTable
from leaderboard.selectors.probe_boards import Place
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell


def probe_table_document(table: ProbeTable) -> dict[str, Any]:
    """What `probe_table_of_document` reads; cells and ceilings stand in lists, in the order of their fields."""
    return {
        "places": [asdict(place) for place in table.places],
        "device": table.device,
        "rows": [_row_document(row) for row in table.rows],
    }


def probe_table_of_document(document: Mapping[str, Any], *, scope: ProbeBoardScope, key: str) -> ProbeTable:
    """The table that a document was made of."""
    return ProbeTable(
        scope=scope,
        key=key,
        places=tuple(Place(**place) for place in document["places"]),
        rows=tuple(_row(row) for row in document["rows"]),
        device=document["device"],
    )


def _row_document(row: ProbeBoardRow) -> dict[str, Any]:
    return {
        "model": model_document(row.model),
        "cells": {key: _plain(cell) for key, cell in row.cells.items()},
        "ceilings": {key: _plain(ceiling) for key, ceiling in row.ceilings.items()},
        "count": _plain(row.count),
        "n_expected": row.n_expected,
        "rank": row.rank,
        "cost": list(astuple(row.cost)),
        "submitted_at": row.submitted_at.isoformat() if row.submitted_at else None,
        "contaminated": list(row.contaminated),
        "marked": list(row.marked),
        "clean": None if row.clean is None else _plain(row.clean),
        "clean_rank": row.clean_rank,
        "training_data": row.training_data,
    }


def _row(document: Mapping[str, Any]) -> ProbeBoardRow:
    submitted_at, clean = document["submitted_at"], document["clean"]
    return ProbeBoardRow(
        model=model_of_document(document["model"]),
        cells={key: ProbeCell(*_frozen(cell)) for key, cell in document["cells"].items()},
        ceilings={key: Ceiling(*_frozen(ceiling)) for key, ceiling in document["ceilings"].items()},
        count=CellCount(*document["count"]),
        n_expected=document["n_expected"],
        rank=document["rank"],
        cost=Cost(*document["cost"]),
        submitted_at=datetime.fromisoformat(submitted_at) if submitted_at else None,
        contaminated=tuple(document["contaminated"]),
        marked=tuple(document["marked"]),
        clean=None if clean is None else CellCount(*clean),
        clean_rank=document["clean_rank"],
        training_data=document["training_data"],
    )


def _plain(row: ProbeCell | Ceiling | CellCount) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in astuple(row)]


def _frozen(values: Sequence[Any]) -> list[Any]:
    return [tuple(value) if isinstance(value, list) else value for value in values]

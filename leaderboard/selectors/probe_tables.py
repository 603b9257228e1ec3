"""The boards of a probing suite as tables: made from a snapshot for a worker to store, and read from what was stored."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from typing import Any

from leaderboard.models import BoardSnapshot, Run
from leaderboard.models.vocabulary import CellClass, Level, ProbeBoardScope
from leaderboard.selectors.board_documents import model_document, model_of_document
from leaderboard.selectors.board_rows import Cost
from leaderboard.selectors.probe_boards import Place, ProbeContent, probe_content
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell
from leaderboard.selectors.published import PublishedModel, published_model
from leaderboard.selectors.run_costs import run_costs, runs_with_devices, usual_device

REVERSED_KEY = "L5-no_finding"
"""The column of negation on images without a finding, where the polarity is reversed."""


@dataclass(frozen=True, slots=True)
class ProbeBoardRow:
    """One published run on a board.

    `cells` is by level (or `REVERSED_KEY`) on the board of a modality, by place on that of a level, and empty on the
    overview. `ceilings` is by place on the overview and holds the own place of a modality's board. The counts are of
    the main cells of MedTEC's own modalities, on the overview alone.
    """

    model: PublishedModel
    cells: Mapping[str, ProbeCell]
    ceilings: Mapping[str, Ceiling]
    n_told_apart: int
    n_measured: int
    cost: Cost
    submitted_at: datetime | None


@dataclass(frozen=True, slots=True)
class ProbeTable:
    """A board; `places` are all places of the suite, in order. `device` is what most runs ran on."""

    scope: ProbeBoardScope
    key: str
    places: tuple[Place, ...]
    rows: tuple[ProbeBoardRow, ...]
    device: str

    @property
    def place(self) -> Place | None:
        """The place that a modality's board is of."""
        return next((place for place in self.places if place.key == self.key), None)


def probe_tables_of_snapshot(snapshot: BoardSnapshot) -> Iterator[ProbeTable]:
    """The overview, a board for each place and one for each level. Two queries in all."""
    found = _Measured.of(snapshot)
    yield _table(found, ProbeBoardScope.OVERVIEW, "", _overview_row)
    for place in found.places:
        yield _table(found, ProbeBoardScope.MODALITY, place.key, _modality_row)
    for level in Level.values:
        yield _table(found, ProbeBoardScope.LEVEL, level, _level_row)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A snapshot by run and place: the cells of each column of a place's board, and ceilings."""

    places: tuple[Place, ...]
    runs: tuple[Run, ...]
    costs: Mapping[Any, Cost]
    cells: Mapping[tuple[str, str], Mapping[str, ProbeCell]]
    ceilings: Mapping[tuple[str, str], Ceiling]

    @classmethod
    def of(cls, snapshot: BoardSnapshot) -> "_Measured":
        content = probe_content(snapshot.content)
        covered = set(content.models)
        runs = [run for run in runs_with_devices(snapshot.runs) if str(run.pk) in covered]
        keys = {(place.modality, place.dataset): place.key for place in content.places}
        return cls(
            places=content.places,
            runs=tuple(runs),
            costs=run_costs(runs),
            cells=_cells(content, keys),
            ceilings={(row.model, keys[row.modality, row.dataset]): row for row in content.ceilings},
        )


def _cells(content: ProbeContent, keys: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], dict[str, ProbeCell]]:
    found: dict[tuple[str, str], dict[str, ProbeCell]] = {}
    for cell in content.cells:
        if cell.is_main or cell.is_reversed:
            column = cell.level if cell.is_main else REVERSED_KEY
            found.setdefault((cell.model, keys[cell.modality, cell.dataset]), {}).setdefault(column, cell)
    return found


def _table(found: _Measured, scope: ProbeBoardScope, key: str, row: Any) -> ProbeTable:
    return ProbeTable(
        scope=scope,
        key=key,
        places=found.places,
        rows=tuple(row(found, run, key) for run in found.runs),
        device=usual_device(found.costs.values()),
    )


def _row(found: _Measured, run: Run, **parts: Any) -> ProbeBoardRow:
    empty: dict[str, Any] = {"cells": {}, "ceilings": {}, "n_told_apart": 0, "n_measured": 0}
    return ProbeBoardRow(
        model=published_model(run),
        cost=found.costs[run.pk],
        submitted_at=run.revision.created_at,
        **{**empty, **parts},
    )


def _overview_row(found: _Measured, run: Run, _key: str) -> ProbeBoardRow:
    name = str(run.pk)
    counted = [
        cell
        for place in found.places
        if place.is_counted
        for column, cell in found.cells.get((name, place.key), {}).items()
        if column != REVERSED_KEY
    ]
    ceilings = {place.key: found.ceilings.get((name, place.key)) for place in found.places}
    return _row(
        found,
        run,
        ceilings={key: ceiling for key, ceiling in ceilings.items() if ceiling is not None},
        n_told_apart=sum(cell.cell_class == CellClass.DISCRIMINATES for cell in counted),
        n_measured=len(counted),
    )


def _modality_row(found: _Measured, run: Run, key: str) -> ProbeBoardRow:
    name = str(run.pk)
    ceiling = found.ceilings.get((name, key))
    return _row(found, run, cells=found.cells.get((name, key), {}), ceilings={key: ceiling} if ceiling else {})


def _level_row(found: _Measured, run: Run, key: str) -> ProbeBoardRow:
    cells = {place.key: found.cells.get((str(run.pk), place.key), {}).get(key) for place in found.places}
    return _row(found, run, cells={place: cell for place, cell in cells.items() if cell is not None})


def probe_table_document(table: ProbeTable) -> dict[str, Any]:
    """What `probe_table_of_document` reads; cells and ceilings stand in lists, in the order of their fields."""
    return {
        "places": [asdict(place) for place in table.places],
        "device": table.device,
        "rows": [
            {
                "model": model_document(row.model),
                "cells": {key: _plain(cell) for key, cell in row.cells.items()},
                "ceilings": {key: _plain(ceiling) for key, ceiling in row.ceilings.items()},
                "counts": [row.n_told_apart, row.n_measured],
                "cost": list(astuple(row.cost)),
                "submitted_at": row.submitted_at.isoformat() if row.submitted_at else None,
            }
            for row in table.rows
        ],
    }


def probe_table_of_document(document: Mapping[str, Any], *, scope: ProbeBoardScope, key: str) -> ProbeTable:
    """The table that a document was made of."""
    return ProbeTable(
        scope=scope,
        key=key,
        places=tuple(Place(**place) for place in document["places"]),
        rows=tuple(_row_of_document(row) for row in document["rows"]),
        device=document["device"],
    )


def _row_of_document(document: Mapping[str, Any]) -> ProbeBoardRow:
    n_told_apart, n_measured = document["counts"]
    submitted_at = document["submitted_at"]
    return ProbeBoardRow(
        model=model_of_document(document["model"]),
        cells={key: ProbeCell(*_frozen(cell)) for key, cell in document["cells"].items()},
        ceilings={key: Ceiling(*_frozen(ceiling)) for key, ceiling in document["ceilings"].items()},
        n_told_apart=n_told_apart,
        n_measured=n_measured,
        cost=Cost(*document["cost"]),
        submitted_at=datetime.fromisoformat(submitted_at) if submitted_at else None,
    )


def _plain(row: ProbeCell | Ceiling) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in astuple(row)]


def _frozen(values: Sequence[Any]) -> list[Any]:
    return [tuple(value) if isinstance(value, list) else value for value in values]

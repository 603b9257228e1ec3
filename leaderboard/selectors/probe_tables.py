"""Makes every board of a probing suite from a snapshot and the runs that it covers, for a worker to store."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from leaderboard.models import BoardSnapshot, Run, Task
from leaderboard.models.vocabulary import CellClass, Level, ProbeBoardScope
from leaderboard.selectors.board_rows import Cost
from leaderboard.selectors.known_training import KnownTraining
from leaderboard.selectors.place_ranks import competition_ranks
from leaderboard.selectors.probe_board_rows import (
    REVERSED_KEY,
    CellCount,
    ProbeBoardRow,
    ProbeTable,
    probe_board_order,
)
from leaderboard.selectors.probe_boards import Place, ProbeContent, probe_content
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell
from leaderboard.selectors.published import published_model
from leaderboard.selectors.run_costs import run_costs, runs_with_devices, usual_device


def probe_tables_of_snapshot(snapshot: BoardSnapshot, training: Mapping[UUID, KnownTraining]) -> Iterator[ProbeTable]:
    """The overview, a board for each place and one for each level. Three queries in all.

    `training` is what is known of the training data of each run's model.
    """
    found = _Measured.of(snapshot, training)
    yield _table(found, ProbeBoardScope.OVERVIEW, "", _overview)
    for place in found.places:
        yield _table(found, ProbeBoardScope.MODALITY, place.key, _modality)
    for level in Level.values:
        yield _table(found, ProbeBoardScope.LEVEL, level, _level)


@dataclass(frozen=True, slots=True)
class _Measured:
    """A snapshot by run and place: the cells of each column of a place's board, and ceilings.

    `trained_on` has the names of the tasks whose data each run's model was trained on, `statements` what was declared.
    """

    places: tuple[Place, ...]
    runs: tuple[Run, ...]
    costs: Mapping[Any, Cost]
    cells: Mapping[tuple[str, str], Mapping[str, ProbeCell]]
    ceilings: Mapping[tuple[str, str], Ceiling]
    trained_on: Mapping[UUID, frozenset[str]]
    statements: Mapping[UUID, str]

    @classmethod
    def of(cls, snapshot: BoardSnapshot, training: Mapping[UUID, KnownTraining]) -> "_Measured":
        content = probe_content(snapshot.content)
        covered = set(content.models)
        runs = [run for run in runs_with_devices(snapshot.runs) if str(run.pk) in covered]
        keys = {(place.modality, place.dataset): place.key for place in content.places}
        names = dict(Task.objects.filter(suite=snapshot.suite_id).order_by().values_list("pk", "name"))
        known = {run.pk: training.get(run.pk, KnownTraining()) for run in runs}
        return cls(
            places=content.places,
            runs=tuple(runs),
            costs=run_costs(runs),
            cells=_cells(content, keys),
            ceilings={(row.model, keys[row.modality, row.dataset]): row for row in content.ceilings},
            trained_on={run: frozenset(names[task] for task in one.tasks) for run, one in known.items()},
            statements={run: one.statement.value for run, one in known.items()},
        )

    def of_run(self, run: Run, place: Place) -> Mapping[str, ProbeCell]:
        """The cells of a run in one place, by column."""
        return self.cells.get((str(run.pk), place.key), {})


def _cells(content: ProbeContent, keys: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], dict[str, ProbeCell]]:
    found: dict[tuple[str, str], dict[str, ProbeCell]] = {}
    for cell in content.cells:
        if cell.is_main or cell.is_reversed:
            column = cell.level if cell.is_main else REVERSED_KEY
            found.setdefault((cell.model, keys[cell.modality, cell.dataset]), {}).setdefault(column, cell)
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """What a board takes from a run: the cells and ceilings that it shows, and the cells that its columns rest on.

    `counted` are those of them that the count is of.
    """

    cells: Mapping[str, ProbeCell]
    ceilings: Mapping[str, Ceiling]
    behind: Sequence[tuple[str, ProbeCell]]
    counted: Sequence[ProbeCell]


def _overview(found: _Measured, run: Run, _key: str) -> _Part:
    main = [
        (place, cell)
        for place in found.places
        for column, cell in found.of_run(run, place).items()
        if column != REVERSED_KEY
    ]
    ceilings = {place.key: found.ceilings.get((str(run.pk), place.key)) for place in found.places}
    return _Part(
        cells={},
        ceilings={key: ceiling for key, ceiling in ceilings.items() if ceiling is not None},
        behind=[(place.key, cell) for place, cell in main],
        counted=[cell for place, cell in main if place.is_counted],
    )


def _modality(found: _Measured, run: Run, key: str) -> _Part:
    place = next(place for place in found.places if place.key == key)
    cells = found.of_run(run, place)
    ceiling = found.ceilings.get((str(run.pk), key))
    return _Part(
        cells=cells,
        ceilings={key: ceiling} if ceiling else {},
        behind=list(cells.items()),
        counted=[cell for column, cell in cells.items() if column != REVERSED_KEY],
    )


def _level(found: _Measured, run: Run, key: str) -> _Part:
    own = [(place, cell) for place in found.places if (cell := found.of_run(run, place).get(key)) is not None]
    cells = {place.key: cell for place, cell in own}
    return _Part(
        cells=cells,
        ceilings={},
        behind=list(cells.items()),
        counted=[cell for place, cell in own if place.is_counted],
    )


def _table(
    found: _Measured, scope: ProbeBoardScope, key: str, part_of: Callable[[_Measured, Run, str], _Part]
) -> ProbeTable:
    parts = {run.pk: part_of(found, run, key) for run in found.runs}
    n_expected = len({cell.task for part in parts.values() for cell in part.counted})
    rows = [_row(found, run, parts[run.pk], n_expected) for run in found.runs]
    return ProbeTable(
        scope=scope,
        key=key,
        places=found.places,
        rows=tuple(sorted(_with_ranks(rows), key=probe_board_order)),
        device=usual_device(found.costs.values()),
    )


def _row(found: _Measured, run: Run, part: _Part, n_expected: int) -> ProbeBoardRow:
    trained = found.trained_on[run.pk]
    left = [cell for cell in part.counted if cell.task not in trained]
    is_whole = 0 < len(part.counted) == n_expected
    return ProbeBoardRow(
        model=published_model(run),
        cells=part.cells,
        ceilings=part.ceilings,
        count=_count(part.counted),
        n_expected=n_expected,
        rank=None,
        cost=found.costs[run.pk],
        submitted_at=run.revision.created_at,
        contaminated=tuple(cell.task for _, cell in part.behind if cell.task in trained),
        marked=tuple(dict.fromkeys(column for column, cell in part.behind if cell.task in trained)),
        clean=_count(left) if is_whole else None,
        clean_rank=None,
        training_data=found.statements[run.pk],
    )


def _count(cells: Sequence[ProbeCell]) -> CellCount:
    return CellCount(sum(cell.cell_class == CellClass.DISCRIMINATES for cell in cells), len(cells))


def _with_ranks(rows: Sequence[ProbeBoardRow]) -> list[ProbeBoardRow]:
    """Rows with their places by the cells told apart, of all and of those that are left without training data."""
    whole = [row for row in rows if row.clean is not None]
    ranks = competition_ranks({row.model.run_id: row.count.share for row in whole})
    clean = {row.model.run_id: row.clean.share for row in whole if row.clean and row.clean.n_measured}
    clean_ranks = competition_ranks(clean)
    return [
        replace(row, rank=ranks.get(row.model.run_id), clean_rank=clean_ranks.get(row.model.run_id)) for row in rows
    ]

"""What boards of probing suites consist of: rows of published runs, with their cells, counts, places and marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from leaderboard.models.vocabulary import ProbeBoardScope
from leaderboard.selectors.board_rows import Cost
from leaderboard.selectors.probe_boards import Place
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell
from leaderboard.selectors.published import PublishedModel

REVERSED_KEY = "L5-no_finding"
"""The column of negation on images without a finding, where the polarity is reversed."""


@dataclass(frozen=True, slots=True)
class CellCount:
    """In how many cells a model tells descriptions apart, of those that it was measured in."""

    n_told_apart: int
    n_measured: int

    @property
    def share(self) -> float:
        """The share of the cells in [0, 1]; none of none is 0."""
        return self.n_told_apart / self.n_measured if self.n_measured else 0.0


@dataclass(frozen=True, slots=True)
class ProbeBoardRow:
    """One published run on a board.

    `cells` is by level (or `REVERSED_KEY`) on the board of a modality, by place on that of a level, and empty on the
    overview. `ceilings` is by place on the overview and holds the own place of a modality's board.

    `count` is of the board's main cells, where several modalities are counted together those of MedTEC's own alone;
    `n_expected` is how many any model was measured in. `rank` is the place by it among the models measured in all of
    them, None for the others; equal counts share it.

    `contaminated` names the tasks of the board's cells whose data the model was trained on, `marked` the columns that
    rest on one. `clean` is the count without them and `clean_rank` the place by its share, None for an unranked row or
    one that no cell is left of. `training_data` is what submitters declared.
    """

    model: PublishedModel
    cells: Mapping[str, ProbeCell]
    ceilings: Mapping[str, Ceiling]
    count: CellCount
    n_expected: int
    rank: int | None
    cost: Cost
    submitted_at: datetime | None
    contaminated: tuple[str, ...]
    marked: tuple[str, ...]
    clean: CellCount | None
    clean_rank: int | None
    training_data: str


@dataclass(frozen=True, slots=True)
class ProbeTable:
    """A board: ranked rows, then the others. `places` are all places of the suite, in order.

    `device` is what most runs ran on.
    """

    scope: ProbeBoardScope
    key: str
    places: tuple[Place, ...]
    rows: tuple[ProbeBoardRow, ...]
    device: str

    @property
    def place(self) -> Place | None:
        """The place that a modality's board is of; None for the others."""
        return next((place for place in self.places if place.key == self.key), None)


def probe_board_order(row: ProbeBoardRow) -> tuple[bool, int, int, str, int]:
    """Ranked rows by rank, then the others by coverage and name."""
    return (row.rank is None, row.rank or 0, -row.count.n_measured, row.model.repo_id.lower(), row.model.revision_id)

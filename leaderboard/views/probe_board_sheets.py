"""The columns of the boards of a probing suite: over all modalities, of one modality, and of one level."""

from collections.abc import Callable, Sequence

from django.urls import reverse

from leaderboard.models.vocabulary import Level, ProbeBoardScope
from leaderboard.selectors.probe_boards import Place
from leaderboard.selectors.probe_rows import ProbeCell
from leaderboard.selectors.probe_tables import REVERSED_KEY, ProbeBoardRow, ProbeTable
from leaderboard.views import figures
from leaderboard.views.drawn import Drawn, nothing
from leaderboard.views.model_columns import model_columns
from leaderboard.views.probe_cells import MODEL_COLUMN, axis_end, ceiling_cell, cell_of, model_cell, score_headers
from leaderboard.views.probe_words import LEVEL_QUESTIONS, level_title
from leaderboard.views.sheets import Cell, Column

COUNT_HEADERS = ("cells_told_apart", "cells_measured")
REVERSED_TITLE = "L5 without a finding"
REVERSED_WORDS = (
    "Images that show nothing abnormal, where the denying text is the true one; never pooled with the others"
)


def probe_columns(table: ProbeTable) -> tuple[Drawn, ...]:
    """Every column that a board can show."""
    makers: dict[ProbeBoardScope, Callable[[ProbeTable], Sequence[Drawn]]] = {
        ProbeBoardScope.OVERVIEW: _overview,
        ProbeBoardScope.MODALITY: _modality,
        ProbeBoardScope.LEVEL: _level,
    }
    model = Drawn(MODEL_COLUMN, lambda row: model_cell(row.model), lambda: nothing(width=2))
    return (model, *makers[table.scope](table), *model_columns(table.device))


def place_key(place: Place) -> str:
    """A place in addresses and headers."""
    return place.key


def place_address(place: Place, *, suite: str) -> str:
    """The address of a place's board."""
    return f"{reverse('probe-modality', args=[place.key])}?suite={suite}"


def _overview(table: ProbeTable) -> list[Drawn]:
    """How many of its main cells a model tells apart, and where it stops in each modality."""
    counts = Column(
        "cells",
        "Told apart",
        "Cells of MedTEC's six modalities and five levels in which the model discriminates, of those measured",
        COUNT_HEADERS,
    )
    return [Drawn(counts, _count_cell), *(_ceiling(place) for place in table.places)]


def _count_cell(row: ProbeBoardRow) -> Cell:
    if not row.n_measured:
        return nothing(width=len(COUNT_HEADERS))
    counted = (row.n_told_apart, row.n_measured)
    return Cell(f"{row.n_told_apart} of {row.n_measured}", row.n_told_apart, counted, style="score")


def _ceiling(place: Place) -> Drawn:
    column = Column(
        place.key,
        place.title,
        f"{place.title}: the first level at which the model collapses",
        (f"{place.key}_ceiling",),
        "left wrap",
    )
    return Drawn(column, lambda row: ceiling_cell(row.ceilings.get(place.key)), heading="By modality")


def _modality(table: ProbeTable) -> list[Drawn]:
    """Every level of one modality, the coarsest first; negation of images without a finding apart."""
    measured = [
        (key, cells)
        for key in (*Level.values, REVERSED_KEY)
        if (cells := [row.cells[key] for row in table.rows if key in row.cells])
    ]
    top = _top(table)
    column = Column("ceiling", "Stops at", "The first level at which the model collapses", ("ceiling",), "left")
    stops = Drawn(column, lambda row: ceiling_cell(row.ceilings.get(table.key)))
    return [stops, *(_score(_level_column(key, cells), key, top, "By level") for key, cells in measured)]


def _level(table: ProbeTable) -> list[Drawn]:
    """One level in every modality in which it is measured."""
    top = _top(table)
    return [
        _score(
            Column(
                place.key,
                place.title,
                f"{place.title}: mean Discrimination Score with its 95% interval",
                score_headers(place.key),
                "wrap",
            ),
            place.key,
            top,
            "By modality",
        )
        for place in table.places
        if any(place.key in row.cells for row in table.rows)
    ]


def _top(table: ProbeTable) -> float:
    return axis_end(cell for row in table.rows for cell in row.cells.values())


def _score(column: Column, key: str, top: float, heading: str) -> Drawn:
    return Drawn(column, lambda row: cell_of(row.cells.get(key), top=top), heading=heading)


def _level_column(level: str, cells: Sequence[ProbeCell]) -> Column:
    fewest, most = min(cell.n_negatives_min for cell in cells), max(cell.n_negatives_max for cell in cells)
    numbers = (
        f"{max(cell.n_anchors for cell in cells)} images, {figures.rank_interval(fewest, most)} wrong descriptions"
    )
    if level == REVERSED_KEY:
        return Column(level, REVERSED_TITLE, f"{REVERSED_WORDS}. {numbers}", score_headers("L5_no_finding"), "wrap")
    title = level_title(level)
    return Column(level, title, f"{LEVEL_QUESTIONS[Level(level)]} {numbers}", score_headers(level), "wrap")

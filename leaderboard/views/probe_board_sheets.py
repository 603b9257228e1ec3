"""The columns of the boards of a probing suite: over all modalities, of one modality, and of one level."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from django.urls import reverse

from leaderboard.models.vocabulary import Level, ProbeBoardScope
from leaderboard.selectors.probe_board_rows import REVERSED_KEY, ProbeBoardRow, ProbeTable
from leaderboard.selectors.probe_boards import Place
from leaderboard.selectors.probe_rows import ProbeCell
from leaderboard.views import figures
from leaderboard.views.drawn import Drawn, nothing
from leaderboard.views.model_columns import model_columns
from leaderboard.views.probe_cells import MODEL_COLUMN, axis_end, ceiling_cell, cell_of, model_cell, score_headers
from leaderboard.views.probe_words import LEVEL_QUESTIONS, level_title
from leaderboard.views.rank_cells import place_cell
from leaderboard.views.sheets import Cell, Column
from leaderboard.views.training_cells import LEFT_OUT, ON_IMAGES, clean_rank, marked, trained_on

COUNT_HEADERS = ("cells_told_apart", "cells_measured")
REVERSED_TITLE = "L5 without a finding"
REVERSED_WORDS = (
    "Images that show nothing abnormal, where the denying text is the true one; never pooled with the others"
)


def probe_columns(table: ProbeTable, *, is_clean: bool = False) -> tuple[Drawn, ...]:
    """Every column that a board can show. `is_clean`: it is one of `selectors.clean_boards`."""
    makers: dict[ProbeBoardScope, Callable[[ProbeTable], Sequence[Drawn]]] = {
        ProbeBoardScope.OVERVIEW: _overview,
        ProbeBoardScope.MODALITY: _modality,
        ProbeBoardScope.LEVEL: _level,
    }
    rank = clean_rank("share of cells told apart") if is_clean else _rank()
    model = Drawn(MODEL_COLUMN, _model_cell, lambda: nothing(width=2))
    scores = [_marked(one, is_clean=is_clean) for one in makers[table.scope](table)]
    trained = trained_on(table, is_clean=is_clean)
    return (rank, model, _count(is_clean=is_clean), *scores, trained, *model_columns(table.device))


def place_key(place: Place) -> str:
    """A place in addresses and headers."""
    return place.key


def place_address(place: Place, *, suite: str) -> str:
    """The address of a place's board."""
    return f"{reverse('probe-modality', args=[place.key])}?suite={suite}"


def _rank() -> Drawn:
    column = Column(
        "rank",
        "Rank",
        "Place by the number of cells told apart, among the models measured in every cell that counts here; equal"
        " numbers share a place",
        ("rank",),
        is_text=True,
    )
    return Drawn(column, lambda row: place_cell(row.rank), lambda: place_cell(None))


def _model_cell(row: ProbeBoardRow) -> Cell:
    cell, measured = model_cell(row.model), row.count.n_measured
    if row.rank is not None or measured == row.n_expected:
        return cell
    return replace(cell, mark=f"{measured} of {row.n_expected} cells measured")


def _count(*, is_clean: bool) -> Drawn:
    def cell(row: ProbeBoardRow) -> Cell:
        count = row.count
        if not count.n_measured:
            return nothing(width=len(COUNT_HEADERS))
        counted = (count.n_told_apart, count.n_measured)
        shown = Cell(f"{count.n_told_apart} of {count.n_measured}", count.share, counted, style="score")
        n_trained = count.n_measured - row.clean.n_measured if row.clean and not is_clean else 0
        return marked(shown, f"{n_trained} of them with images that it was trained on") if n_trained else shown

    words = f" {LEFT_OUT}" if is_clean else ""
    column = Column(
        "cells",
        "Told apart",
        f"Cells of this board in which the model discriminates, of those measured{words}; over several modalities,"
        " MedTEC's own six count",
        tuple(f"clean_{header}" for header in COUNT_HEADERS) if is_clean else COUNT_HEADERS,
    )
    return Drawn(column, cell, lambda: nothing(width=len(COUNT_HEADERS)))


def _marked(drawn: Drawn, *, is_clean: bool) -> Drawn:
    """The column with daggers where a model was trained on the images that its figure rests on."""
    words = ON_IMAGES + (", so left out of rank and count" if is_clean else "")

    def cell(row: ProbeBoardRow) -> Cell:
        shown = drawn.cell(row)
        return marked(shown, words) if shown.sort is not None and drawn.column.key in _marks(row) else shown

    return replace(drawn, cell=cell)


def _marks(row: ProbeBoardRow) -> tuple[str, ...]:
    """The columns of figures that rest on training data; where a model stops rests on each of the levels."""
    return (*row.marked, "ceiling") if row.marked else ()


def _overview(table: ProbeTable) -> list[Drawn]:
    """Where a model stops in each modality."""
    return [_ceiling(place) for place in table.places]


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

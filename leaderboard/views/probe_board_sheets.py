"""The boards of a probing suite as sheets: over all modalities, of one modality, and of one level."""

from collections.abc import Sequence

from django.urls import reverse

from leaderboard.models.vocabulary import CellClass, Level
from leaderboard.selectors.probe_boards import Place, ProbeContent
from leaderboard.selectors.probe_rows import ProbeCell
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.probe_cells import (
    MODEL_COLUMN,
    axis_end,
    ceiling_cell,
    cell_of,
    model_cell,
    nothing,
    score_headers,
)
from leaderboard.views.probe_words import LEVEL_QUESTIONS, level_title
from leaderboard.views.sheets import Cell, Column, Group, Sheet

COUNT_HEADERS = ("cells_told_apart", "cells_measured")
REVERSED_TITLE = "L5 without a finding"


def overview_sheet(content: ProbeContent, models: Sequence[PublishedModel]) -> Sheet:
    """Where each model stops in each modality, and how many of its main cells it tells apart."""
    places = content.places
    columns = (
        MODEL_COLUMN,
        Column(
            "cells",
            "Told apart",
            "Cells of MedTEC's six modalities and five levels in which the model discriminates, of those measured",
            COUNT_HEADERS,
        ),
        *(
            Column(
                place_key(place),
                place.title,
                f"{place.title}: the first level at which the model collapses",
                (f"{place_key(place)}_ceiling",),
                "left wrap",
            )
            for place in places
        ),
    )
    rows = [
        (
            model_cell(model),
            _count_cell(content, places, model),
            *(ceiling_cell(content.ceiling(model=str(model.run_id), place=place)) for place in places),
        )
        for model in models
    ]
    return Sheet("Where understanding stops", columns, _group(rows))


def modality_sheet(content: ProbeContent, models: Sequence[PublishedModel], *, place: Place) -> Sheet:
    """Every level of one modality, the coarsest first; negation of images without a finding apart."""
    found = {str(model.run_id): _by_column(content, model, place) for model in models}
    levels = [level for level in (*Level.values, REVERSED_TITLE) if any(level in cells for cells in found.values())]
    top = axis_end(cell for cells in found.values() for cell in cells.values())
    columns = (
        MODEL_COLUMN,
        Column("ceiling", "Stops at", "The first level at which the model collapses", ("ceiling",), "left"),
        *(_level_column(level, [cells[level] for cells in found.values() if level in cells]) for level in levels),
    )
    rows = [
        (
            model_cell(model),
            ceiling_cell(content.ceiling(model=str(model.run_id), place=place)),
            *(cell_of(found[str(model.run_id)].get(level), top=top) for level in levels),
        )
        for model in models
    ]
    return Sheet(f"{place.title}, level by level", columns, _group(rows))


def level_sheet(content: ProbeContent, models: Sequence[PublishedModel], *, level: str) -> Sheet:
    """One level in every modality."""
    places = content.places
    cells = {
        (str(model.run_id), place): content.main_cells(model=str(model.run_id), place=place).get(level)
        for model in models
        for place in places
    }
    measured = [place for place in places if any(cells[str(model.run_id), place] for model in models)]
    top = axis_end(cell for cell in cells.values() if cell is not None)
    columns = (
        MODEL_COLUMN,
        *(
            Column(
                place_key(place),
                place.title,
                f"{place.title}: mean Discrimination Score with its 95% interval",
                score_headers(place_key(place)),
                "wrap",
            )
            for place in measured
        ),
    )
    rows = [
        (model_cell(model), *(cell_of(cells[str(model.run_id), place], top=top) for place in measured))
        for model in models
    ]
    return Sheet(level_title(level), columns, _group(rows))


def place_key(place: Place) -> str:
    """A place in addresses and headers: its modality, with the data set where it is not the first."""
    return place.modality if place.is_main else f"{place.modality}-{place.dataset}"


def place_address(place: Place, *, suite: str) -> str:
    """The address of a place's board."""
    return f"{reverse('probe-modality', args=[place_key(place)])}?suite={suite}"


def _group(rows: Sequence[tuple[Cell, ...]]) -> tuple[Group, ...]:
    return (Group("", tuple(rows)),) if rows else ()


def _count_cell(content: ProbeContent, places: Sequence[Place], model: PublishedModel) -> Cell:
    cells = [
        cell
        for place in places
        if place.is_counted
        for cell in content.main_cells(model=str(model.run_id), place=place).values()
    ]
    if not cells:
        return nothing(len(COUNT_HEADERS))
    passed = sum(cell.cell_class == CellClass.DISCRIMINATES for cell in cells)
    return Cell(f"{passed} of {len(cells)}", passed, (passed, len(cells)), style="score")


def _by_column(content: ProbeContent, model: PublishedModel, place: Place) -> dict[str, ProbeCell]:
    run = str(model.run_id)
    cells = content.main_cells(model=run, place=place)
    polarity_reversed = next((cell for cell in content.cells_of(model=run, place=place) if cell.is_reversed), None)
    return cells if polarity_reversed is None else {**cells, REVERSED_TITLE: polarity_reversed}


def _level_column(level: str, cells: Sequence[ProbeCell]) -> Column:
    fewest, most = min(cell.n_negatives_min for cell in cells), max(cell.n_negatives_max for cell in cells)
    numbers = (
        f"{max(cell.n_anchors for cell in cells)} images, {figures.rank_interval(fewest, most)} wrong descriptions"
    )
    if level == REVERSED_TITLE:
        words = (
            "Images that show nothing abnormal, where the denying text is the true one; never pooled with the others"
        )
        return Column("L5-no_finding", REVERSED_TITLE, f"{words}. {numbers}", score_headers("L5_no_finding"), "wrap")
    title = level_title(level)
    return Column(level, title, f"{LEVEL_QUESTIONS[Level(level)]} {numbers}", score_headers(level), "wrap")

"""What a model's page shows of a run on a probing suite."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

from leaderboard.models.vocabulary import CellClass, Level, Modality, NegationSubtype, PhrasingStyle, TaskRunState
from leaderboard.selectors.probe_boards import Place, ProbeContent, of_model, probe_statistics
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.charts import PolygonChart, polygon_chart
from leaderboard.views.probe_analyses import Part, ShownPart
from leaderboard.views.probe_analysis_sheets import (
    gap_sheet,
    question_sheet,
    sample_sheet,
    subgroup_sheet,
)
from leaderboard.views.probe_board_sheets import place_address
from leaderboard.views.probe_cells import axis_end, ceiling_cell, cell_of, rows_sheet, score_headers
from leaderboard.views.probe_pages import SECTION
from leaderboard.views.probe_words import STYLE_EXPLANATIONS, SUBTYPE_EXPLANATIONS, level_title
from leaderboard.views.sheets import Cell, Column, Group, Sheet
from leaderboard.views.tables import download, table
from leaderboard.views.training_cells import ON_IMAGES, TASK_HEADER, marked, score_with_training, with_header

PLACE_COLUMN = Column("modality", "Modality", "What kind of image", ("modality", "data_set"), is_row_head=True)


def probing_page(request: HttpRequest, context: dict[str, Any], *, trained: Collection[str]) -> HttpResponse:
    """The page, or one of its tables as a file; `context` has the model, its run and its suite.

    `trained` names the tasks whose data the model was trained on.
    """
    suite, run = context["suite"], context["run"]
    statistics = probe_statistics(suite.pk)
    own = str(run.model.run_id)
    content = statistics.content if statistics and own in statistics.content.models else None
    parts = _parts(content, run.model, suite=suite.slug, trained=trained) if content else []
    shown = [ShownPart(part, table(part.key, part.sheet, request=request)) for part in parts if part.sheet.n_rows]
    stem = f"medboard-{suite.slug}-{suite.version}-{slugify(run.model.repo_id)}"
    if file := download(request, [one.table for one in shown], stem=stem):
        return file
    context |= {
        "section": SECTION,
        "statistics": statistics if content else None,
        "n_waiting": int(content is None),
        "sentence": _sentence(content, own, suite.title) if content else f"On {suite.title} {suite.version}.",
        "charts": [
            (place, place_address(place, suite=suite.slug), _chart(content, own, place)) for place in content.places
        ]
        if content
        else [],
        "parts": shown,
        "failed": [task for task in run.tasks if task.state != TaskRunState.SUCCEEDED],
    }
    return render(request, "models/model.html", context)


def _parts(content: ProbeContent, model: PublishedModel, *, suite: str, trained: Collection[str]) -> list[Part]:
    own = str(model.run_id)
    models = {own: model}
    return [
        Part("levels", _level_sheet(content, own, suite, trained)),
        Part("negation", _negation_sheet(content, own, trained), "The wrong descriptions of L5, by kind of negation."),
        Part("styles", _style_sheet(content, own, trained), "The same images and findings in other words."),
        Part("groups", _without_model(subgroup_sheet(of_model(content.subgroups, own), models))),
        Part("gaps", _without_model(gap_sheet(of_model(content.subgroup_gaps, own), models))),
        Part("questions", _without_model(question_sheet(of_model(content.closed_questions, own), models))),
        Part("samples", _without_model(sample_sheet(of_model(content.sample_size, own), models))),
    ]


def passed_cells(content: ProbeContent, own: str) -> tuple[int, int]:
    """In how many of the main cells that count over modalities a model tells descriptions apart, and how many it has."""
    cells = [
        cell
        for place in content.places
        if place.is_counted
        for cell in content.main_cells(model=own, place=place).values()
    ]
    return sum(cell.cell_class == CellClass.DISCRIMINATES for cell in cells), len(cells)


def _sentence(content: ProbeContent, own: str, suite: str) -> str:
    passed, total = passed_cells(content, own)
    return (
        f"On {suite} it tells descriptions apart in {passed} of {total} cells of MedTEC's modalities and levels."
        " The tables say where it stops."
    )


def _chart(content: ProbeContent, own: str, place: Place) -> PolygonChart:
    cells = content.main_cells(model=own, place=place)
    series = {
        "DS": [cell.ds for cell in cells.values()],
        "lower end": [cell.lower for cell in cells.values()],
        "upper end": [cell.upper for cell in cells.values()],
    }
    words = "; ".join(
        f"{level_title(level)}: {figures.signed(cell.ds)}, {CellClass(cell.cell_class).label}"
        for level, cell in cells.items()
    )
    return polygon_chart(list(cells), series, title=f"Discrimination Scores on {place.title}", description=words)


def _level_sheet(content: ProbeContent, own: str, suite: str, trained: Collection[str]) -> Sheet:
    rows = {place: content.main_cells(model=own, place=place) for place in content.places}
    top = axis_end(cell for cells in rows.values() for cell in cells.values())
    columns = (
        PLACE_COLUMN,
        Column("ceiling", "Stops at", "The first level at which the model collapses", ("ceiling",), "left"),
        *(_score_column(level, level_title(level), "Mean DS with its 95% interval") for level in Level),
        Column("images", "Images", "Anchor images", ("images",)),
    )
    found = [
        (
            _place_cell(place, address=place_address(place, suite=suite)),
            _ceiling(content.ceiling(model=own, place=place), cells.values(), trained),
            *(_score(cells.get(level), top, trained) for level in Level.values),
            _images(cells.values()),
        )
        for place, cells in rows.items()
        if cells
    ]
    return rows_sheet("Scores by level", columns, found)


def _score_column(key: str, title: str, explanation: str, style: str = "") -> Column:
    return with_header(Column(key, title, explanation, score_headers(key), style), TASK_HEADER, of=key)


def _score(cell: ProbeCell | None, top: float, trained: Collection[str]) -> Cell:
    return score_with_training(cell_of(cell, top=top), is_trained=cell is not None and cell.task in trained)


def _ceiling(ceiling: Ceiling | None, cells: Iterable[ProbeCell], trained: Collection[str]) -> Cell:
    """Where the model stops, which rests on each of the cells."""
    shown = ceiling_cell(ceiling)
    return marked(shown, ON_IMAGES) if ceiling and any(cell.task in trained for cell in cells) else shown


def _negation_sheet(content: ProbeContent, own: str, trained: Collection[str]) -> Sheet:
    found = _by_place(
        content, own, key="subtype", wanted=lambda cell: cell.subtype is not None and not cell.is_reversed
    )
    columns = {
        subtype.value: _score_column(subtype.value, subtype.label, SUBTYPE_EXPLANATIONS[subtype], "wrap")
        for subtype in NegationSubtype
    }
    found = {place: cells for place, cells in found.items() if len(cells) > 1}
    return _grid("Kinds of negation", {(place, ""): cells for place, cells in found.items()}, columns, trained)


def _style_sheet(content: ProbeContent, own: str, trained: Collection[str]) -> Sheet:
    rows: dict[tuple[Place, str], Mapping[str, ProbeCell]] = {}
    for level in Level.values:
        found = _by_place(
            content,
            own,
            key="style",
            wanted=lambda cell, level=level: (
                cell.level == level and cell.subtype in {None, NegationSubtype.MIXED} and not cell.is_reversed
            ),
        )
        rows |= {(place, level): cells for place, cells in found.items() if len(cells) > 1}
    columns = {
        style.value: _score_column(style.value, style.label, STYLE_EXPLANATIONS[style], "wrap")
        for style in PhrasingStyle
    }
    return _grid("Phrasing styles", rows, columns, trained)


def _by_place(content: ProbeContent, own: str, *, key: str, wanted: Any) -> dict[Place, dict[str, ProbeCell]]:
    """The cells of a model that are wanted, by place and by an attribute of theirs."""
    return {
        place: {getattr(cell, key): cell for cell in content.cells_of(model=own, place=place) if wanted(cell)}
        for place in content.places
    }


def _grid(
    caption: str,
    rows: Mapping[tuple[Place, str], Mapping[str, ProbeCell]],
    columns: Mapping[str, Column],
    trained: Collection[str],
) -> Sheet:
    """A row a place (and level), a column a variant of its cells."""
    used = [name for name in columns if any(name in cells for cells in rows.values())]
    top = axis_end(cell for cells in rows.values() for cell in cells.values())
    ordered = sorted(rows.items(), key=lambda item: (Modality.values.index(item[0][0].modality), item[0][1]))
    found = [
        (
            _place_cell(place, level=level),
            *(_score(cells.get(name), top, trained) for name in used),
            _images(cells.values()),
        )
        for (place, level), cells in ordered
    ]
    head = replace(PLACE_COLUMN, headers=("modality", "data_set", "level"))
    images = Column("images", "Images", "Anchor images", ("images",))
    return rows_sheet(caption, (head, *(columns[name] for name in used), images), found)


def _place_cell(place: Place, *, address: str = "", level: str | None = None) -> Cell:
    data = (place.modality, place.dataset) if level is None else (place.modality, place.dataset, level)
    note = " · ".join(part for part in (level_title(level) if level else "", place.dataset) if part)
    return Cell(place.title, place.title, data, note=note, href=address, is_row_head=True)


def _images(cells: Any) -> Cell:
    """How many images the cells of a row have: one number, or the fewest and the most."""
    counts = sorted({cell.n_anchors for cell in cells})
    return Cell(figures.rank_interval(counts[0], counts[-1]), counts[-1], (counts[-1],))


def _without_model(sheet: Sheet) -> Sheet:
    """A sheet of one model's rows without the column that names it; the next column heads the rows."""
    first, *rest = sheet.columns[1:]
    groups = tuple(
        Group(group.title, tuple((replace(row[1], is_row_head=True), *row[2:]) for row in group.rows))
        for group in sheet.groups
    )
    return Sheet(sheet.caption, (replace(first, is_row_head=True), *rest), groups)

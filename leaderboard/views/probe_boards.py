"""The boards of probing suites: over all modalities, of one modality, of one level."""

from collections.abc import Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.models.vocabulary import CellClass, Level, Modality
from leaderboard.selectors.probe_boards import Place, ProbeContent
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.charts import PolygonChart, polygon_chart
from leaderboard.views.probe_board_sheets import level_sheet, modality_sheet, overview_sheet, place_key
from leaderboard.views.probe_cells import distinct_names
from leaderboard.views.probe_pages import SECTION, ProbePage, page_context, probe_page
from leaderboard.views.probe_words import BOUNDARY, CLASS_EXPLANATIONS, LEVEL_QUESTIONS, level_title
from leaderboard.views.sheets import Sheet, sorted_sheet
from leaderboard.views.tables import download, table

MOST_SPOKES = 24
FEWEST_SPOKES = 3
"""A polygon needs three corners."""


def overview(request: HttpRequest) -> HttpResponse:
    """Where each model's understanding stops, in every modality."""
    page = probe_page(request)
    if page is None:
        return render(request, "probing/no_suite.html", {"section": SECTION})
    sheet = overview_sheet(page.content, list(page.models.values())) if page.content else None
    context = {"heading": "Where does understanding stop?", "is_overview": True, "order": "-cells"}
    return _board(request, page, sheet, context)


def modality(request: HttpRequest, key: str) -> HttpResponse:
    """One modality, level by level."""
    page = probe_page(request)
    if page is None:
        raise Http404("There is no such board.")
    place = _place(page.content, key) if page.content else None
    if place is None and (page.content is not None or key not in Modality.values):
        raise Http404("This suite has no such modality.")
    models = list(page.models.values())
    context: dict[str, Any] = {
        "heading": place.title if place else Modality(key).label,
        "is_scored": True,
        "order": "-ceiling",
    }
    if page.content is None or place is None:
        return _board(request, page, None, context)
    context["chart"] = _chart(page.content, place, models)
    return _board(request, page, modality_sheet(page.content, models, place=place), context)


def level(request: HttpRequest, level: str) -> HttpResponse:
    """One level in every modality."""
    page = probe_page(request)
    if page is None or level not in Level.values:
        raise Http404("There is no such level.")
    sheet = level_sheet(page.content, list(page.models.values()), level=level) if page.content else None
    context = {"heading": level_title(level), "is_scored": True, "question": LEVEL_QUESTIONS[Level(level)], "order": ""}
    return _board(request, page, sheet, context)


def _place(content: ProbeContent, key: str) -> Place | None:
    return next((place for place in content.places if place_key(place) == key), None)


def _board(request: HttpRequest, page: ProbePage, sheet: Sheet | None, context: dict[str, Any]) -> HttpResponse:
    order = context.pop("order")
    tables = [table("board", sorted_sheet(sheet, request=request, default=order), request=request)] if sheet else []
    slug = request.resolver_match.kwargs.get("key") or request.resolver_match.kwargs.get("level") or "overview"
    if file := download(request, tables, stem=f"{page.file_stem}-{slug}"):
        return file
    context |= page_context(page, request) | {
        "tables": tables,
        "classes": [(value, value.label, CLASS_EXPLANATIONS[value]) for value in reversed(CellClass)],
        "boundary": BOUNDARY,
    }
    return render(request, "probing/board.html", context)


def _chart(content: ProbeContent, place: Place, models: Sequence[PublishedModel]) -> PolygonChart | None:
    """The levels as polygons over the models, where there are enough models for a shape and few enough to read."""
    shown = distinct_names({str(model.run_id): model for model in models})
    cells = {name: content.main_cells(model=run, place=place) for run, name in shown.items()}
    if not FEWEST_SPOKES <= len(cells) <= MOST_SPOKES:
        return None
    names = sorted(cells, key=str.lower)
    series = {}
    for value in Level:
        found = [cells[name].get(value) for name in names]
        if any(found):
            series[level_title(value)] = [cell.ds if cell else None for cell in found]
    words = "; ".join(
        f"{label}: " + ", ".join(f"{name} {figures.signed(ds)}" for name, ds in zip(names, found, strict=True))
        for label, found in series.items()
    )
    return polygon_chart(names, series, title=f"Discrimination Scores on {place.title}", description=words)

"""The boards of probing suites: over all modalities, of one modality, of one level."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.models.vocabulary import CellClass, Level, Modality, ProbeBoardScope, SuiteKind
from leaderboard.selectors.board_tables import StoredProbeTable, stored_probe_table
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.probe_tables import ProbeTable
from leaderboard.views import figures
from leaderboard.views.board_view import board_view, file_of
from leaderboard.views.boards import chosen_suite
from leaderboard.views.charts import PolygonChart, polygon_chart
from leaderboard.views.page_cache import kept_for_everybody
from leaderboard.views.probe_board_sheets import probe_columns
from leaderboard.views.probe_cells import distinct_names
from leaderboard.views.probe_pages import SECTION, navigation
from leaderboard.views.probe_words import BOUNDARY, CLASS_EXPLANATIONS, LEVEL_QUESTIONS, level_title

MOST_SPOKES = 24
FEWEST_SPOKES = 3
"""A polygon needs three corners."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A board that was asked for, of the chosen suite."""

    suites: tuple[SuiteSummary, ...]
    suite: SuiteSummary
    stored: StoredProbeTable


@kept_for_everybody
def overview(request: HttpRequest) -> HttpResponse:
    """Where each model's understanding stops, in every modality."""
    asked = _asked(request, ProbeBoardScope.OVERVIEW, "")
    if asked is None:
        return render(request, "probing/no_suite.html", {"section": SECTION})
    context = {"heading": "Where does understanding stop?", "is_overview": True}
    return _board(request, asked, context, order="-cells", name="overview")


@kept_for_everybody
def modality(request: HttpRequest, key: str) -> HttpResponse:
    """One modality, level by level."""
    asked = _asked(request, ProbeBoardScope.MODALITY, key)
    if asked is None:
        raise Http404("There is no such board.")
    table = asked.stored.table
    if table is None and (asked.stored.currency.built_at or key not in Modality.values):
        raise Http404("This suite has no such modality.")
    place = table.place if table else None
    context: dict[str, Any] = {"heading": place.title if place else Modality(key).label, "is_scored": True}
    if table is not None:
        context["chart"] = _chart(table)
    return _board(request, asked, context, order="-ceiling", name=key)


@kept_for_everybody
def level(request: HttpRequest, level: str) -> HttpResponse:
    """One level in every modality."""
    asked = _asked(request, ProbeBoardScope.LEVEL, level) if level in Level.values else None
    if asked is None:
        raise Http404("There is no such level.")
    context = {"heading": level_title(level), "is_scored": True, "question": LEVEL_QUESTIONS[Level(level)]}
    return _board(request, asked, context, order="", name=level)


def _asked(request: HttpRequest, scope: ProbeBoardScope, key: str) -> _Asked | None:
    """A board of the suite that the address names, or of the one with most results; None without any suite."""
    suites = live_suites(SuiteKind.PROBING)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    return None if suite is None else _Asked(suites, suite, stored_probe_table(suite, scope, key))


def _board(request: HttpRequest, asked: _Asked, context: dict[str, Any], *, order: str, name: str) -> HttpResponse:
    table, suite = asked.stored.table, asked.suite
    status = 200
    if table is not None:
        view = board_view(request, rows=table.rows, drawn=probe_columns(table), caption=context["heading"], order=order)
        if file := file_of(view, request, stem=f"medboard-{suite.slug}-{suite.version}-{name}"):
            return file
        context |= {"view": view, "n_models": len(table.rows), "device": table.device}
        status = 200 if view.is_valid else 400
    context |= navigation(asked.suites, suite, table.places if table else (), request) | {
        "currency": asked.stored.currency,
        "unfiltered_address": f"{request.path}?suite={suite.slug}",
        "classes": [(value, value.label, CLASS_EXPLANATIONS[value]) for value in reversed(CellClass)],
        "boundary": BOUNDARY,
    }
    return render(request, "probing/board.html", context, status=status)


def _chart(table: ProbeTable) -> PolygonChart | None:
    """The levels as polygons over the models, where there are enough models for a shape and few enough to read."""
    if not FEWEST_SPOKES <= len(table.rows) <= MOST_SPOKES:
        return None
    shown = distinct_names({str(row.model.run_id): row.model for row in table.rows})
    cells = {shown[str(row.model.run_id)]: row.cells for row in table.rows}
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
    title = table.place.title if table.place else ""
    return polygon_chart(names, series, title=f"Discrimination Scores on {title}", description=words)

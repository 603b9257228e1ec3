"""The boards of probing suites: over all modalities, of one modality, of one level."""

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.forms.finder import ProbeFinderForm, ProbeQuestion
from leaderboard.models.vocabulary import CellClass, Level, Modality, ProbeBoardScope, SuiteKind
from leaderboard.selectors.board_tables import StoredProbeTables, stored_probe_tables
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.clean_boards import clean_table
from leaderboard.selectors.probe_board_rows import ProbeBoardRow, ProbeTable
from leaderboard.views import figures
from leaderboard.views.board_view import board_view, file_of
from leaderboard.views.boards import chosen_suite
from leaderboard.views.charts import PolygonChart, polygon_chart
from leaderboard.views.page_cache import kept_for_everybody
from leaderboard.views.probe_board_sheets import probe_columns
from leaderboard.views.probe_cells import distinct_names
from leaderboard.views.probe_finder import board_of, probe_answer, probe_presets
from leaderboard.views.probe_pages import SECTION, navigation
from leaderboard.views.probe_words import BOUNDARY, CLASS_EXPLANATIONS, LEVEL_QUESTIONS, level_title
from leaderboard.views.training_cells import asks_for_clean

MOST_SPOKES = 24
FEWEST_SPOKES = 3
"""A polygon needs three corners."""
OVERVIEW = (ProbeBoardScope.OVERVIEW, "")
RANKED, UNRANKED = "", "Listed, not ranked: cells are missing"
ALL_TRAINED_ON = "Listed, not ranked: no cell is left that the model was not trained on"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A board that was asked for, of the chosen suite, which may not have it."""

    suites: tuple[SuiteSummary, ...]
    suite: SuiteSummary
    table: ProbeTable | None
    stored: StoredProbeTables


@kept_for_everybody
def overview(request: HttpRequest) -> HttpResponse:
    """Where each model's understanding stops, in every modality, with the finder above it, which may ask another board."""
    suites = live_suites(SuiteKind.PROBING)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return render(request, "probing/no_suite.html", {"section": SECTION})
    wanted = board_of(ProbeQuestion(request.GET.get("images", ""), request.GET.get("ability", "")))
    stored = stored_probe_tables(suite, list({OVERVIEW: 1, wanted: 1}))
    table = stored.tables.get(OVERVIEW)
    context: dict[str, Any] = {"heading": "Where does understanding stop?", "is_overview": True}
    if table is not None:
        context |= _finder(request, suite, table, stored)
    return _board(request, _Asked(suites, suite, table, stored), context, name="overview")


def _finder(request: HttpRequest, suite: SuiteSummary, table: ProbeTable, stored: StoredProbeTables) -> dict[str, Any]:
    """The question and its answer; only the overview says which places can be asked for."""
    form = ProbeFinderForm(request.GET)
    form.offer([(place.key, place.title) for place in table.places], [row.model for row in table.rows])
    is_asked_well = form.is_valid()
    question = form.question if is_asked_well else ProbeQuestion()
    is_clean = asks_for_clean(request)
    asked = stored.tables[board_of(question)]
    return {
        "finder": form,
        "is_asked_well": is_asked_well,
        "answer": probe_answer(
            question, clean_table(asked) if is_clean else asked, suite=suite.slug, is_clean=is_clean
        ),
        "presets": probe_presets(table.places, suite=suite.slug),
    }


@kept_for_everybody
def modality(request: HttpRequest, key: str) -> HttpResponse:
    """One modality, level by level."""
    asked = _asked(request, ProbeBoardScope.MODALITY, key)
    if asked is None:
        raise Http404("There is no such board.")
    table = asked.table
    if asked.stored.lacks(ProbeBoardScope.MODALITY, key):
        raise Http404("This suite has no such modality.")
    place = table.place if table else None
    context: dict[str, Any] = {"heading": place.title if place else Modality(key).label, "is_scored": True}
    if table is not None:
        context["chart"] = _chart(table)
    return _board(request, asked, context, name=key)


@kept_for_everybody
def level(request: HttpRequest, level: str) -> HttpResponse:
    """One level in every modality."""
    asked = _asked(request, ProbeBoardScope.LEVEL, level) if level in Level.values else None
    if asked is None:
        raise Http404("There is no such level.")
    context = {"heading": level_title(level), "is_scored": True, "question": LEVEL_QUESTIONS[Level(level)]}
    return _board(request, asked, context, name=level)


def _asked(request: HttpRequest, scope: ProbeBoardScope, key: str) -> _Asked | None:
    """A board of the suite that the address names, or of the one with most results; None without any suite."""
    suites = live_suites(SuiteKind.PROBING)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return None
    stored = stored_probe_tables(suite, [(scope, key)])
    return _Asked(suites, suite, stored.tables.get((scope, key)), stored)


def _board(request: HttpRequest, asked: _Asked, context: dict[str, Any], *, name: str) -> HttpResponse:
    table, suite = asked.table, asked.suite
    is_sound = context.get("is_asked_well", True)
    if table is not None:
        is_clean = asks_for_clean(request)
        shown = clean_table(table) if is_clean else table
        view = board_view(
            request,
            rows=shown.rows,
            drawn=probe_columns(shown, is_clean=is_clean),
            caption=context["heading"],
            order="rank",
            group_of=_part,
        )
        if file := file_of(view, request, stem=f"medboard-{suite.slug}-{suite.version}-{name}"):
            return file
        context |= {
            "view": view,
            "n_models": len(table.rows),
            "device": table.device,
            "is_clean": is_clean,
            "has_training_marks": any(row.contaminated for row in table.rows),
        }
        is_sound = is_sound and view.is_valid
    context |= navigation(asked.suites, suite, table.places if table else (), request) | {
        "currency": asked.stored.currency,
        "unfiltered_address": f"{request.path}?suite={suite.slug}",
        "classes": [(value, value.label, CLASS_EXPLANATIONS[value]) for value in reversed(CellClass)],
        "boundary": BOUNDARY,
    }
    return render(request, "probing/board.html", context, status=200 if is_sound else 400)


def _part(row: ProbeBoardRow) -> str:
    """The title of the part of the board that a row stands in; without a rank, a row lacks cells or has none left."""
    if row.rank is not None:
        return RANKED
    return ALL_TRAINED_ON if row.contaminated and row.n_expected == 0 else UNRANKED


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

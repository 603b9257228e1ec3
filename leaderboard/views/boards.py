"""The boards: overall, and one for every group of tasks. The whole state of a board is in its address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.forms.finder import SUBJECTS, FinderForm, Question
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope, Domain, Family, SuiteKind
from leaderboard.selectors.board_rows import TRAINED_ON, Board, BoardRow
from leaderboard.selectors.board_tables import StoredBoard, stored_boards
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.clean_boards import clean_board
from leaderboard.views import figures
from leaderboard.views.axes import AXES_BY_NAME, board_address
from leaderboard.views.board_sheet import REFERENCE, board_axis, board_columns
from leaderboard.views.board_view import board_view, file_of
from leaderboard.views.finder import answer, presets
from leaderboard.views.page_cache import kept_for_everybody
from leaderboard.views.questions import FAMILY_QUESTIONS
from leaderboard.views.size_chart import size_chart
from leaderboard.views.training_cells import asks_for_clean

FRONT_HEADING = "Which embedding model finds the right evidence?"
OVERALL = (AggregateScope.OVERALL, "")
RANKED, UNRANKED = "", "Listed, not ranked: tasks are missing"
ALL_TRAINED_ON = "Listed, not ranked: no task is left that the model was not trained on"
HIDDEN_AXES = tuple(scope for scope in AXES_BY_NAME.values() if scope != AggregateScope.SPLIT)
"""The axes whose tabs are folded away until one of them is open."""


@dataclass(frozen=True, slots=True)
class Tab:
    """A link to a neighbouring board. `is_empty`: the suite has no task there."""

    title: str
    href: str
    is_current: bool
    is_empty: bool = False


@kept_for_everybody
def overall(request: HttpRequest) -> HttpResponse:
    """The front page: every family of a suite."""
    suites = live_suites(SuiteKind.RETRIEVAL)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return render(request, "boards/no_suite.html", {"section": "boards"})
    return _front_page(request, suites, suite)


@kept_for_everybody
def family(request: HttpRequest, family: str) -> HttpResponse:
    """The tasks of one family."""
    if family not in Family.values:
        raise Http404("There is no such family.")
    return _group_page(request, scope=AggregateScope.FAMILY, key=family, heading=Family(family).label)


@kept_for_everybody
def domain(request: HttpRequest, domain: str) -> HttpResponse:
    """The tasks of one anatomical domain."""
    if domain not in Domain.values:
        raise Http404("There is no such domain.")
    return _group_page(request, scope=AggregateScope.DOMAIN, key=domain, heading=Domain(domain).label)


@kept_for_everybody
def other_group(request: HttpRequest, axis: str, key: str) -> HttpResponse:
    """The tasks of one group on another axis: split, evidence form, pairing type, granularity, the release's groups."""
    scope = AXES_BY_NAME.get(axis)
    if scope is None or key not in CHOICES_OF[scope].values:
        raise Http404("There is no such group of tasks.")
    return _group_page(request, scope=scope, key=key, heading=_heading(scope, CHOICES_OF[scope](key).label))


def _heading(scope: AggregateScope, label: str) -> str:
    return f"{scope.label}: {label}" if scope == AggregateScope.RELEASE_GROUP else label


def chosen_suite(suites: tuple[SuiteSummary, ...], slug: str) -> SuiteSummary | None:
    """The suite that an address names, or the one with most published results; None when there is no suite at all."""
    if not slug:
        return suites[0] if suites else None
    for suite in suites:
        if suite.slug == slug:
            return suite
    raise Http404("There is no such suite.")


def _group_page(request: HttpRequest, *, scope: AggregateScope, key: str, heading: str) -> HttpResponse:
    suites = live_suites(SuiteKind.RETRIEVAL)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return render(request, "boards/no_suite.html", {"section": "boards"})
    stored = stored_boards(suite, [(scope, key)])[scope, key]
    return _board_page(request, suites, suite, stored, heading=heading)


def _front_page(request: HttpRequest, suites: tuple[SuiteSummary, ...], suite: SuiteSummary) -> HttpResponse:
    """The overall board, with the finder above it, which may ask another board."""
    form = FinderForm(request.GET)
    form.offer([(scope, key) for scope, choices in SUBJECTS for key in choices.values], [])
    is_asked_well = form.is_valid()
    question = form.question if is_asked_well else Question()
    boards = stored_boards(suite, list({OVERALL: 1, (question.scope, question.key): 1}))
    stored, asked = boards[OVERALL], boards[question.scope, question.key].board
    is_clean = asks_for_clean(request)
    form.offer(_subjects(suite, stored.board), [row.model for row in stored.board.rows])
    context = {
        "finder": form,
        "is_asked_well": is_asked_well,
        "answer": answer(question, clean_board(asked) if is_clean else asked, suite=suite.slug, is_clean=is_clean),
        "presets": presets(suite.slug),
    }
    return _board_page(request, suites, suite, stored, heading=FRONT_HEADING, **context)


def _subjects(suite: SuiteSummary, board: Board) -> list[tuple[AggregateScope, str]]:
    """The boards that the finder can ask: those with installed tasks."""
    return [(scope, key) for scope, choices in SUBJECTS for key in choices.values if key in board.group_chance]


def _board_page(
    request: HttpRequest,
    suites: tuple[SuiteSummary, ...],
    suite: SuiteSummary,
    stored: StoredBoard,
    *,
    heading: str,
    **context: Any,
) -> HttpResponse:
    is_clean = asks_for_clean(request)
    board = clean_board(stored.board) if is_clean else stored.board
    view = board_view(
        request,
        rows=board.rows,
        drawn=board_columns(board, is_clean=is_clean),
        caption=heading,
        order="rank",
        group_of=_part,
        reference=REFERENCE if board.chance is not None else "",
    )
    if file := file_of(view, request, stem="-".join(["medboard", suite.slug, suite.version, board.key or "overall"])):
        return file
    context |= {
        "section": "boards",
        "heading": heading,
        "board": board,
        "suite": suite,
        "currency": stored.currency,
        "question": FAMILY_QUESTIONS.get(board.key, ""),
        "is_overall": board.scope == AggregateScope.OVERALL,
        "view": view,
        "axis": figures.percent(board_axis(board)),
        "leader": None if is_clean else _leader(board.rows),
        "is_clean": is_clean,
        "has_training_marks": any(row.contaminated for row in board.rows),
        "chart": size_chart(view.matching),
        "unfiltered_address": _suite_address(request.path, suite),
        "suite_tabs": _suite_tabs(request.path, suites, suite),
        "family_tabs": _family_tabs(board, suite),
        "domain_tabs": _group_tabs(board, suite, AggregateScope.DOMAIN, suite.domains),
        "split_tabs": _group_tabs(board, suite, AggregateScope.SPLIT),
        "other_tabs": [(scope.label, _group_tabs(board, suite, scope)) for scope in HIDDEN_AXES],
        "is_on_other_axis": board.scope in HIDDEN_AXES,
        "crumb": board.scope.label.lower(),
    }
    is_sound = view.is_valid and context.get("is_asked_well", True)
    return render(request, "boards/board.html", context, status=200 if is_sound else 400)


def _part(row: BoardRow) -> str:
    """The title of the part of the board that a row stands in."""
    if row.rank is not None:
        return RANKED
    return ALL_TRAINED_ON if any(missing.code == TRAINED_ON for missing in row.missing) else UNRANKED


@dataclass(frozen=True, slots=True)
class Leader:
    """The first row of a board, and how many others cannot be told apart from it."""

    row: BoardRow
    n_level: int


def _leader(rows: tuple[BoardRow, ...]) -> Leader | None:
    ranked = [row for row in rows if row.rank is not None]
    if not ranked:
        return None
    first, others = ranked[0], ranked[1:]
    return Leader(first, sum(other.standing.tie_group == first.standing.tie_group for other in others))


def _suite_address(path: str, suite: SuiteSummary) -> str:
    return f"{path}?suite={suite.slug}"


def _suite_tabs(path: str, suites: tuple[SuiteSummary, ...], current: SuiteSummary) -> list[Tab]:
    return [
        Tab(f"{suite.title} {suite.version}", _suite_address(path, suite), is_current=suite.pk == current.pk)
        for suite in suites
    ]


def _family_tabs(board: Board, suite: SuiteSummary) -> list[Tab]:
    everything = Tab(
        "All", _suite_address(reverse("board-overall"), suite), is_current=board.scope == AggregateScope.OVERALL
    )
    return [everything, *_group_tabs(board, suite, AggregateScope.FAMILY, suite.families)]


def _group_tabs(
    board: Board, suite: SuiteSummary, scope: AggregateScope, n_tasks: Mapping[str, int] | None = None
) -> list[Tab]:
    """The boards of a scope; with the number of tasks by key, those without any are marked."""
    return [
        Tab(
            choice.label,
            board_address(scope.value, choice.value, suite=suite.slug),
            is_current=board.scope == scope and board.key == choice.value,
            is_empty=n_tasks is not None and choice.value not in n_tasks,
        )
        for choice in CHOICES_OF[scope]
    ]

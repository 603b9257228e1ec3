"""The boards: overall, and one for every group of tasks. The whole state of a board is in its address."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.forms.boards import BoardFilterForm
from leaderboard.models.vocabulary import AggregateScope, Domain, Family, SuiteKind
from leaderboard.selectors.boards import Board, BoardRow, group_board, overall_board
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.views import figures
from leaderboard.views.axes import AXES_BY_NAME, CHOICES_OF, board_address
from leaderboard.views.board_sheet import board_axis, board_sheet
from leaderboard.views.questions import FAMILY_QUESTIONS
from leaderboard.views.sheets import address_with, csv_response, sorted_sheet

HIDDEN_AXES = tuple(scope for scope in AXES_BY_NAME.values() if scope != AggregateScope.SPLIT)
"""The axes whose tabs are folded away until one of them is open."""


@dataclass(frozen=True, slots=True)
class Tab:
    """A link to a neighbouring board. `is_empty`: the suite has no task there."""

    title: str
    href: str
    is_current: bool
    is_empty: bool = False


def overall(request: HttpRequest) -> HttpResponse:
    """The front page: every family of a suite."""
    suites = live_suites(SuiteKind.RETRIEVAL)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return render(request, "boards/no_suite.html", {"section": "boards"})
    return _board_page(request, suites, overall_board(suite), heading="Which embedding model finds the right evidence?")


def family(request: HttpRequest, family: str) -> HttpResponse:
    """The tasks of one family."""
    if family not in Family.values:
        raise Http404("There is no such family.")
    return _group_page(request, scope=AggregateScope.FAMILY, key=family, heading=Family(family).label)


def domain(request: HttpRequest, domain: str) -> HttpResponse:
    """The tasks of one anatomical domain."""
    if domain not in Domain.values:
        raise Http404("There is no such domain.")
    return _group_page(request, scope=AggregateScope.DOMAIN, key=domain, heading=Domain(domain).label)


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
    return _board_page(request, suites, group_board(suite, scope=scope, key=key), heading=heading)


def _board_page(request: HttpRequest, suites: tuple[SuiteSummary, ...], board: Board, *, heading: str) -> HttpResponse:
    form = BoardFilterForm(request.GET)
    form.offer(board.rows, kind_titles=figures.KIND_TITLES)
    is_valid = form.is_valid()
    rows = tuple(row for row in board.rows if form.filter.accepts(row.model)) if is_valid else ()
    sheet = sorted_sheet(board_sheet(board, rows, caption=heading), request=request, default="rank")
    if request.GET.get("format") == "csv" and is_valid:
        parts = ["medboard", board.suite.slug, board.suite.version, board.key or "overall"]
        return csv_response(sheet, file_name="-".join(parts))
    context = {
        "section": "boards",
        "heading": heading,
        "board": board,
        "suite": board.suite,
        "question": FAMILY_QUESTIONS.get(board.key, ""),
        "is_overall": board.scope == AggregateScope.OVERALL,
        "form": form,
        "is_filtered": is_valid and form.filter.is_set,
        "sheet": sheet,
        "n_shown": len(rows),
        "axis": figures.percent(board_axis(board)),
        "leader": _leader(board.rows),
        "csv_address": address_with(request.GET, format="csv"),
        "unfiltered_address": _suite_address(request.path, board.suite),
        "suite_tabs": _suite_tabs(request.path, suites, board.suite),
        "family_tabs": _family_tabs(board),
        "domain_tabs": _domain_tabs(board),
        "split_tabs": _axis_tabs(board, AggregateScope.SPLIT),
        "other_tabs": [(scope.label, _axis_tabs(board, scope)) for scope in HIDDEN_AXES],
        "is_on_other_axis": board.scope in HIDDEN_AXES,
        "crumb": board.scope.label.lower(),
    }
    return render(request, "boards/board.html", context, status=200 if is_valid else 400)


@dataclass(frozen=True, slots=True)
class Leader:
    """The first row of a board, and how many others cannot be told apart from it.

    While there are no statistics, `n_level` counts the rows whose interval reaches the leader's instead.
    """

    row: BoardRow
    n_level: int


def _leader(rows: tuple[BoardRow, ...]) -> Leader | None:
    ranked = [row for row in rows if row.rank is not None and row.mean and row.mean.lower is not None]
    if not ranked:
        return None
    first, others = ranked[0], ranked[1:]
    if first.standing is not None:
        return Leader(first, sum(other.standing.tie_group == first.standing.tie_group for other in others))
    return Leader(first, sum(other.mean.upper >= first.mean.lower for other in others))


def _suite_address(path: str, suite: SuiteSummary) -> str:
    return f"{path}?suite={suite.slug}"


def _suite_tabs(path: str, suites: tuple[SuiteSummary, ...], current: SuiteSummary) -> list[Tab]:
    return [
        Tab(f"{suite.title} {suite.version}", _suite_address(path, suite), is_current=suite.pk == current.pk)
        for suite in suites
    ]


def _family_tabs(board: Board) -> list[Tab]:
    everything = Tab(
        "All",
        _suite_address(reverse("board-overall"), board.suite),
        is_current=board.scope == AggregateScope.OVERALL,
    )
    return [everything, *(_tab(board, AggregateScope.FAMILY, choice, board.suite.families) for choice in Family)]


def _domain_tabs(board: Board) -> list[Tab]:
    return [_tab(board, AggregateScope.DOMAIN, choice, board.suite.domains) for choice in Domain]


def _axis_tabs(board: Board, scope: AggregateScope) -> list[Tab]:
    return [
        Tab(
            choice.label,
            board_address(scope.value, choice.value, suite=board.suite.slug),
            is_current=board.scope == scope and board.key == choice.value,
        )
        for choice in CHOICES_OF[scope]
    ]


def _tab(board: Board, scope: AggregateScope, choice: Family | Domain, n_tasks: Mapping[str, int]) -> Tab:
    return Tab(
        choice.label,
        board_address(scope.value, choice.value, suite=board.suite.slug),
        is_current=board.scope == scope and board.key == choice.value,
        is_empty=choice.value not in n_tasks,
    )

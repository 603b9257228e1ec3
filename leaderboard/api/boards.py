"""All boards, and those of retrieval suites with the rows that their pages show."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router

from leaderboard.api.board_answers import BoardAnswer, board_answer
from leaderboard.api.board_requests import BoardAddress, RowFilter, board_address, chosen_rows, live_suite
from leaderboard.api.operations import Text, reads
from leaderboard.api.probe_boards import probe_addresses
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope, SuiteKind
from leaderboard.selectors.board_tables import stored_boards
from leaderboard.selectors.catalogue import SuiteSummary, live_suites

router = Router(tags=["Boards"])


@reads(router, "/boards", list[BoardAddress])
def list_boards(request: HttpRequest) -> list[dict[str, str]]:
    """Every board of the live suites."""
    addresses_of = {SuiteKind.RETRIEVAL: _addresses, SuiteKind.PROBING: probe_addresses}
    return [address for suite in live_suites() for address in addresses_of[SuiteKind(suite.kind)](suite)]


@reads(router, "/boards/{suite}/overall", BoardAnswer)
def get_overall_board(request: HttpRequest, suite: Path[Text], asked: Query[RowFilter]) -> dict[str, Any]:
    """The board over all families of a retrieval suite."""
    return _page(suite, (AggregateScope.OVERALL, ""), asked)


@reads(router, "/boards/{suite}/{scope}/{key}", BoardAnswer)
def get_group_board(
    request: HttpRequest, suite: Path[Text], scope: Path[Text], key: Path[Text], asked: Query[RowFilter]
) -> dict[str, Any]:
    """The board of one group of tasks of a retrieval suite."""
    axis = next((one for one in CHOICES_OF if one.value == scope), None)
    if axis is None or key not in CHOICES_OF[axis].values:
        raise Http404(f"There is no group {key} of tasks by {scope}. /api/v1/boards lists every board.")
    return _page(suite, (axis, key), asked)


def _page(slug: str, name: tuple[AggregateScope, str], asked: RowFilter) -> dict[str, Any]:
    suite = live_suite(slug, SuiteKind.RETRIEVAL)
    stored = stored_boards(suite, [name])[name]
    rows, part = chosen_rows(stored.board.rows, asked)
    return board_answer(suite, stored, rows) | part


def _addresses(suite: SuiteSummary) -> list[dict[str, str]]:
    groups = [
        board_address(suite, scope.value, choice.value, f"{scope.label}: {choice.label}")
        for scope, choices in CHOICES_OF.items()
        for choice in choices
    ]
    return [board_address(suite, AggregateScope.OVERALL.value, "", AggregateScope.OVERALL.label), *groups]

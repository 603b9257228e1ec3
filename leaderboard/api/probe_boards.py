"""The boards of probing suites, with the rows that their pages show, and their cells one by one."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router
from pydantic import Field

from leaderboard.api.board_answers import of_suite
from leaderboard.api.board_requests import RowFilter, board_address, chosen_rows, live_suite
from leaderboard.api.operations import Absent, Place, Text, listing, reads
from leaderboard.api.probe_answers import CellsAnswer, ProbeBoardAnswer, cell_answer, probe_board_answer
from leaderboard.models.vocabulary import Level, Modality, PhrasingStyle, ProbeBoardScope, SuiteKind
from leaderboard.selectors.board_tables import stored_probe_tables
from leaderboard.selectors.catalogue import SuiteSummary
from leaderboard.selectors.probe_boards import ProbeStatistics, probe_statistics
from leaderboard.selectors.published import published_models
from leaderboard.selectors.training_data import contaminated_task_names

router = Router(tags=["Boards"])

_OVERVIEW = (ProbeBoardScope.OVERVIEW, "")


class CellFilter(Place):
    """Which cells."""

    q: Text = Field("", description="Part of the model's name.")
    modality: Modality | Absent = None
    level: Level | Absent = None
    style: PhrasingStyle | Absent = None


@reads(router, "/boards/{suite}/overview", ProbeBoardAnswer)
def get_overview_board(request: HttpRequest, suite: Path[Text], asked: Query[RowFilter]) -> dict[str, Any]:
    """The board over all modalities of a probing suite: where each model's understanding stops."""
    return _board(suite, _OVERVIEW, asked)


@reads(router, "/boards/{suite}/modality/{key}", ProbeBoardAnswer)
def get_modality_board(
    request: HttpRequest, suite: Path[Text], key: Path[Text], asked: Query[RowFilter]
) -> dict[str, Any]:
    """The board of one modality of a probing suite, level by level."""
    return _board(suite, (ProbeBoardScope.MODALITY, key), asked)


@reads(router, "/boards/{suite}/level/{key}", ProbeBoardAnswer)
def get_level_board(
    request: HttpRequest, suite: Path[Text], key: Path[Text], asked: Query[RowFilter]
) -> dict[str, Any]:
    """The board of one level of a probing suite, in every modality."""
    return _board(suite, (ProbeBoardScope.LEVEL, key), asked)


@reads(router, "/boards/{suite}/cells", CellsAnswer)
def get_cells(request: HttpRequest, suite: Path[Text], asked: Query[CellFilter]) -> dict[str, Any]:
    """The cells of a probing suite: every model by modality, level and style."""
    found = live_suite(suite, SuiteKind.PROBING)
    statistics = probe_statistics(found.pk)
    items = _cells(found, statistics, asked) if statistics else []
    part = listing(items[asked.offset : asked.offset + asked.limit], count=len(items), place=asked)
    return of_suite(found, is_fresh=statistics is not None and statistics.is_fresh) | part


def probe_addresses(suite: SuiteSummary) -> list[dict[str, str]]:
    """The boards that a probing suite has; until it has statistics these are the overview and the levels."""
    overview = stored_probe_tables(suite, [_OVERVIEW]).tables.get(_OVERVIEW)
    places = overview.places if overview else ()
    return [
        board_address(suite, ProbeBoardScope.OVERVIEW.value, "", ProbeBoardScope.OVERVIEW.label),
        *(board_address(suite, ProbeBoardScope.MODALITY.value, place.key, place.title) for place in places),
        *(board_address(suite, ProbeBoardScope.LEVEL.value, level.value, level.label) for level in Level),
        board_address(suite, "cells", "", "Cells"),
    ]


def _board(slug: str, name: tuple[ProbeBoardScope, str], asked: RowFilter) -> dict[str, Any]:
    suite = live_suite(slug, SuiteKind.PROBING)
    stored = stored_probe_tables(suite, [name])
    table, (scope, key) = stored.tables.get(name), name
    if stored.lacks(scope, key):
        raise Http404(f"There is no {scope.label.lower()} {key} on the boards. /api/v1/boards lists every board.")
    rows, part = chosen_rows(table.rows if table else (), asked)
    return probe_board_answer(suite, name, stored.currency, rows) | part


def _cells(suite: SuiteSummary, statistics: ProbeStatistics, asked: CellFilter) -> list[dict[str, Any]]:
    """The cells of models that are listed now; one that was withdrawn since the statistics were made is left out."""
    models = {str(model.run_id): model for model in published_models(suite_id=suite.pk)}
    trained_on = contaminated_task_names({model.revision_id for model in models.values()}, suite_id=suite.pk)
    content = statistics.content
    ceilings = {(row.model, row.modality, row.dataset): row for row in content.ceilings}
    wanted = {name: value for name in ("modality", "level", "style") if (value := getattr(asked, name)) is not None}
    return [
        cell_answer(
            cell,
            model=models[cell.model],
            ceiling=ceilings.get((cell.model, cell.modality, cell.dataset)),
            is_contaminated=cell.task in trained_on[models[cell.model].revision_id],
        )
        for cell in content.cells
        if cell.model in models
        and asked.q.lower() in models[cell.model].repo_id.lower()
        and all(getattr(cell, name) == value for name, value in wanted.items())
    ]

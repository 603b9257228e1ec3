"""The boards, with the rows that their pages show."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from leaderboard.api.board_answers import BoardAnswer, ProbeBoardAnswer, board_answer, cell_answer
from leaderboard.api.operations import Absent, Place, Size, Text, reads
from leaderboard.forms.boards import BoardFilter
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope, Level, Modality, PhrasingStyle, SuiteKind
from leaderboard.selectors.board_tables import stored_boards
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.probe_boards import ProbeStatistics, probe_statistics
from leaderboard.selectors.published import published_models
from leaderboard.selectors.training_data import contaminated_task_names

router = Router(tags=["Boards"])


class BoardAddress(Schema):
    """A board that there is. `path` follows /api/v1."""

    suite: str
    scope: str
    key: str
    title: str
    path: str


class RowFilter(Place):
    """Which rows of a board; ranks stay those of the whole board."""

    q: Text = Field("", description="Part of the model's name.")
    licence: Text = ""
    max_parameters: Size | Absent = Field(None, description="Models of unknown size are left out.")


class CellFilter(Place):
    """Which cells."""

    q: Text = Field("", description="Part of the model's name.")
    modality: Modality | Absent = None
    level: Level | Absent = None
    style: PhrasingStyle | Absent = None


@reads(router, "/boards", list[BoardAddress])
def list_boards(request: HttpRequest) -> list[dict[str, str]]:
    """Every board of the live suites."""
    return [address for suite in live_suites() for address in _addresses(suite)]


@reads(router, "/boards/{suite}/overall", BoardAnswer)
def get_overall_board(request: HttpRequest, suite: Path[Text], asked: Query[RowFilter]) -> dict[str, Any]:
    """The board over all families of a retrieval suite."""
    return _page(suite, (AggregateScope.OVERALL, ""), asked)


@reads(router, "/boards/{suite}/cells", ProbeBoardAnswer)
def get_cells(request: HttpRequest, suite: Path[Text], asked: Query[CellFilter]) -> dict[str, Any]:
    """The cells of a probing suite: every model by modality, level and style."""
    found = _suite(suite, SuiteKind.PROBING)
    statistics = probe_statistics(found.pk)
    items = _cells(found, statistics, asked) if statistics else []
    return {
        "suite": found.slug,
        "suite_version": found.version,
        "synthetic": found.synthetic,
        "is_fresh": statistics is not None and statistics.is_fresh,
        "items": items[asked.offset : asked.offset + asked.limit],
        "count": len(items),
        "limit": asked.limit,
        "offset": asked.offset,
    }


@reads(router, "/boards/{suite}/{scope}/{key}", BoardAnswer)
def get_group_board(
    request: HttpRequest, suite: Path[Text], scope: Path[Text], key: Path[Text], asked: Query[RowFilter]
) -> dict[str, Any]:
    """The board of one group of tasks of a retrieval suite."""
    axis = next((one for one in CHOICES_OF if one.value == scope), None)
    if axis is None or key not in CHOICES_OF[axis].values:
        raise Http404(f"There is no group {key} of tasks by {scope}. /api/v1/boards lists every board.")
    return _page(suite, (axis, key), asked)


def _suite(slug: str, kind: SuiteKind) -> SuiteSummary:
    for suite in live_suites(kind):
        if suite.slug == slug:
            return suite
    raise Http404(f"There is no live {kind.label.lower()} suite {slug}.")


def _page(slug: str, name: tuple[AggregateScope, str], asked: RowFilter) -> dict[str, Any]:
    suite = _suite(slug, SuiteKind.RETRIEVAL)
    stored = stored_boards(suite, [name])[name]
    wanted = BoardFilter(text=asked.q, licence=asked.licence, max_parameters=asked.max_parameters)
    rows = [row for row in stored.board.rows if wanted.accepts(row)]
    part = rows[asked.offset : asked.offset + asked.limit]
    return {**board_answer(suite, stored, part), "count": len(rows), "limit": asked.limit, "offset": asked.offset}


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


def _addresses(suite: SuiteSummary) -> list[dict[str, str]]:
    if suite.kind == SuiteKind.PROBING:
        return [_address(suite, "cells", "", "Cells")]
    groups = [
        _address(suite, scope.value, choice.value, f"{scope.label}: {choice.label}")
        for scope, choices in CHOICES_OF.items()
        for choice in choices
    ]
    return [_address(suite, AggregateScope.OVERALL.value, "", AggregateScope.OVERALL.label), *groups]


def _address(suite: SuiteSummary, scope: str, key: str, title: str) -> dict[str, str]:
    path = "/".join(part for part in ("/boards", suite.slug, scope, key) if part)
    return {"suite": suite.slug, "scope": scope, "key": key, "title": title, "path": path}

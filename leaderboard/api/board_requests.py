"""What can be asked of any board, and where boards are."""

from collections.abc import Sequence
from typing import TypeVar

from django.http import Http404
from ninja import Schema
from pydantic import Field

from leaderboard.api.operations import Absent, Place, Size, Text
from leaderboard.forms.boards import BoardFilter, Listed
from leaderboard.models.vocabulary import SuiteKind
from leaderboard.selectors.catalogue import SuiteSummary, live_suites

Row = TypeVar("Row", bound=Listed)


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


def chosen_rows(rows: Sequence[Row], asked: RowFilter) -> tuple[list[Row], dict[str, int]]:
    """The rows that were asked for, and the fields that say which part of how many they are."""
    wanted = BoardFilter(text=asked.q, licence=asked.licence, max_parameters=asked.max_parameters)
    accepted = [row for row in rows if wanted.accepts(row)]
    part = accepted[asked.offset : asked.offset + asked.limit]
    return part, {"count": len(accepted), "limit": asked.limit, "offset": asked.offset}


def live_suite(slug: str, kind: SuiteKind) -> SuiteSummary:
    """The live suite of a kind.

    Raises:
        Http404: there is none of this name.
    """
    for suite in live_suites(kind):
        if suite.slug == slug:
            return suite
    raise Http404(f"There is no live {kind.label.lower()} suite {slug}.")


def board_address(suite: SuiteSummary, scope: str, key: str, title: str) -> dict[str, str]:
    """Where a board is, as `BoardAddress` has it."""
    path = "/".join(part for part in ("/boards", suite.slug, scope, key) if part)
    return {"suite": suite.slug, "scope": scope, "key": key, "title": title, "path": path}

"""How boards of retrieval suites are written as answers: the only file of the API that knows what their rows look like."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Schema
from pydantic import Field

from leaderboard.api.operations import Listing
from leaderboard.models.vocabulary import AggregateScope
from leaderboard.selectors.board_rows import BoardRow
from leaderboard.selectors.board_tables import Currency, StoredBoard
from leaderboard.selectors.catalogue import SuiteSummary


class ModelOnBoard(Schema):
    """The model behind a published run."""

    run: UUID = Field(alias="run_id")
    repo_id: str
    commit: str
    adapter_repo_id: str
    adapter_commit: str
    parameters: int | None
    dimension: int | None
    licence: str
    gated: bool


class Mean(Schema):
    """A mean over the evaluated tasks of a group, in [0, 1], with its 95% interval."""

    value: float
    lower: float | None
    upper: float | None
    n_tasks: int
    n_expected: int


class TaskValue(Schema):
    """Hit@1 on one task, in [0, 1], with its 95% interval."""

    value: float
    lower: float | None
    upper: float | None
    chance: float
    n_queries: int


class MissingTasks(Schema):
    """Tasks without a score; `code` says why and is empty where the run never had them."""

    code: str
    n_tasks: int


class BoardRowAnswer(Schema):
    """One published run. Ranks are null where tasks are missing."""

    model: ModelOnBoard
    rank: int | None
    rank_lower: int | None
    rank_upper: int | None
    tie_group: int | None = Field(description="The rank of the best model that it cannot be told apart from.")
    mean: Mean | None
    cv: float | None = Field(description="The spread across families; on the overall board alone.")
    families: dict[str, Mean] = Field(description="By family; on the overall board alone.")
    tasks: dict[str, TaskValue] = Field(description="By the task's name; not on the overall board.")
    missing: list[MissingTasks]
    contaminated_tasks: list[str] = Field(description="Tasks with a score whose data the model was trained on.")
    clean_mean: float | None = Field(
        description="The mean without them, in [0, 1]; null where tasks are missing or a family has none left."
    )
    clean_rank: int | None = Field(description="The place by it among the rows that have one; equal means share it.")


class OfSuite(Schema):
    """What an answer says of the suite that it is about."""

    suite: str
    suite_version: str
    synthetic: bool
    is_fresh: bool = Field(description="Whether the statistics cover exactly what is published.")


class OfBoard(OfSuite):
    """What an answer says of any board."""

    key: str
    built_at: datetime | None = Field(description="When its statistics were made; null while there are none.")
    n_waiting: int = Field(description="Published runs that they do not cover yet.")


class BoardAnswer(OfBoard, Listing[BoardRowAnswer]):
    """A board: complete rows by rank, then the others, as of the moment when its statistics were made."""

    scope: AggregateScope
    chance: float | None


def board_row_answer(row: BoardRow, *, task_names: Mapping[int, str]) -> dict[str, Any]:
    """A row of a board."""
    standing = row.standing
    return {
        "model": row.model,
        "rank": row.rank,
        "rank_lower": standing.rank_lower if standing else None,
        "rank_upper": standing.rank_upper if standing else None,
        "tie_group": standing.tie_group if standing else None,
        "mean": row.mean,
        "cv": row.cv,
        "families": row.groups,
        "tasks": {task_names[task]: score for task, score in row.tasks.items()},
        "missing": row.missing,
        "contaminated_tasks": row.contaminated,
        "clean_mean": row.clean.value if row.clean else None,
        "clean_rank": row.clean_rank,
    }


def of_suite(suite: SuiteSummary, *, is_fresh: bool) -> dict[str, Any]:
    """The fields of `OfSuite`."""
    return {
        "suite": suite.slug,
        "suite_version": suite.version,
        "synthetic": suite.synthetic,
        "is_fresh": is_fresh,
    }


def of_board(suite: SuiteSummary, name: tuple[str, str], currency: Currency) -> dict[str, Any]:
    """The fields of `OfBoard`, and the scope; `name` is scope and key."""
    scope, key = name
    return of_suite(suite, is_fresh=currency.is_fresh) | {
        "scope": scope,
        "key": key,
        "built_at": currency.built_at,
        "n_waiting": currency.n_waiting,
    }


def board_answer(suite: SuiteSummary, stored: StoredBoard, rows: Iterable[BoardRow]) -> dict[str, Any]:
    """A board with some of its rows."""
    board = stored.board
    names = {task.pk: task.name for task in board.tasks}
    return of_board(suite, (board.scope, board.key), stored.currency) | {
        "chance": board.chance,
        "items": [board_row_answer(row, task_names=names) for row in rows],
    }

"""A board of a retrieval suite as the document that a worker stores and a page reads."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from datetime import datetime
from typing import Any
from uuid import UUID

from leaderboard.models.vocabulary import AggregateScope
from leaderboard.selectors.board_making import score_of
from leaderboard.selectors.board_rows import Board, BoardRow, BoardTask, Cost, GroupScore, Missing
from leaderboard.selectors.clean_means import CleanMean
from leaderboard.selectors.published import PublishedModel, TaskScore
from leaderboard.selectors.snapshots import Standing


def board_document(board: Board) -> dict[str, Any]:
    """What `board_of_document` reads. A row's numbers stand in lists: there are many, and names would double them."""
    return {
        "chance": board.chance,
        "group_chance": dict(board.group_chance),
        "device": board.device,
        "tasks": [asdict(task) for task in board.tasks],
        "rows": [_row_document(row, board.tasks) for row in board.rows],
    }


def board_of_document(document: Mapping[str, Any], *, scope: AggregateScope, key: str) -> Board:
    """The board that a document was made of."""
    tasks = tuple(BoardTask(**task) for task in document["tasks"])
    return Board(
        scope=scope,
        key=key,
        rows=tuple(_row(row, tasks) for row in document["rows"]),
        tasks=tasks,
        chance=document["chance"],
        group_chance=document["group_chance"],
        device=document["device"],
    )


def model_document(model: PublishedModel) -> dict[str, Any]:
    """What is known of a row's model."""
    return asdict(model) | {"run_id": str(model.run_id)}


def model_of_document(document: Mapping[str, Any]) -> PublishedModel:
    """The model that a document was made of."""
    return PublishedModel(**{**document, "run_id": UUID(document["run_id"])})


class _Groups(Mapping[str, GroupScore]):
    """Means by group, made when they are asked for: a board has tens of thousands, and a page shows some hundreds."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: Mapping[str, Sequence[Any]]) -> None:
        self._numbers = numbers

    def __getitem__(self, key: str) -> GroupScore:
        return GroupScore(*self._numbers[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


def _row_document(row: BoardRow, tasks: Sequence[BoardTask]) -> dict[str, Any]:
    standing = row.standing
    return {
        "model": model_document(row.model),
        "standing": None
        if standing is None
        else [
            standing.value, standing.lower, standing.upper, standing.n_tasks, standing.n_expected, standing.rank,
            standing.rank_lower, standing.rank_upper, standing.tie_group,
        ],
        "cv": row.cv,
        "adjusted": row.adjusted,
        "n_expected": row.n_expected,
        "groups": {key: list(astuple(score)) for key, score in row.groups.items()},
        "tasks": [list(astuple(row.tasks[task.pk])) if task.pk in row.tasks else None for task in tasks]
        if row.tasks
        else [],
        "missing": [[missing.code, missing.n_tasks] for missing in row.missing],
        "cost": list(astuple(row.cost)),
        "submitted_at": row.submitted_at.isoformat() if row.submitted_at else None,
        "contaminated": list(row.contaminated),
        "clean": None if row.clean is None else list(astuple(row.clean)),
        "clean_rank": row.clean_rank,
        "clean_groups": {key: list(astuple(mean)) for key, mean in row.clean_groups.items()},
        "training_data": row.training_data,
    }  # fmt: skip


def _row(document: Mapping[str, Any], tasks: Sequence[BoardTask]) -> BoardRow:
    model = model_of_document(document["model"])
    numbers = document["standing"]
    standing = None if numbers is None else Standing(str(model.run_id), *numbers)
    submitted_at = document["submitted_at"]
    return BoardRow(
        model=model,
        rank=standing.rank if standing else None,
        mean=score_of(standing),
        cv=document["cv"],
        n_tasks=standing.n_tasks if standing else 0,
        n_expected=document["n_expected"],
        groups=_Groups(document["groups"]),
        tasks={
            task.pk: TaskScore(*score)
            for task, score in zip(tasks, document["tasks"], strict=False)
            if score is not None
        },
        missing=tuple(Missing(*missing) for missing in document["missing"]),
        standing=standing,
        adjusted=document["adjusted"],
        cost=Cost(*document["cost"]),
        submitted_at=datetime.fromisoformat(submitted_at) if submitted_at else None,
        contaminated=tuple(document["contaminated"]),
        clean=None if document["clean"] is None else CleanMean(*document["clean"]),
        clean_rank=document["clean_rank"],
        clean_groups={key: CleanMean(*numbers) for key, numbers in document["clean_groups"].items()},
        training_data=document["training_data"],
    )

"""Reads stored boards: what a page shows, of runs that are still listed, told how current it is."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from cachetools import LRUCache
from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection
from django.db.models import Q

from leaderboard.models import BoardChange, BoardTable, Run, Task
from leaderboard.models.vocabulary import AggregateScope, Level, Modality, ProbeBoardScope
from leaderboard.selectors.board_documents import board_of_document
from leaderboard.selectors.board_layout import LAYOUT
from leaderboard.selectors.board_making import board_task, keys_of
from leaderboard.selectors.board_rows import Board
from leaderboard.selectors.catalogue import LISTED, SuiteSummary
from leaderboard.selectors.probe_board_rows import ProbeTable
from leaderboard.selectors.probe_documents import probe_table_of_document

CACHED_TABLES = 24
"""Boards that a process keeps in memory. One of 1,000 models takes about 10 MB."""

STATE_QUERY = f"SELECT max(id), count(*) FROM {BoardChange._meta.db_table}"  # noqa: S608, SLF001 - no value in it

Table = TypeVar("Table", Board, ProbeTable)


@dataclass(frozen=True, slots=True)
class BoardsState:
    """Names the state of all boards: as long as it is the same, so is every page of them."""

    last_change: int | None
    n_changes: int


def boards_state() -> BoardsState:
    """The present state of all boards. One query, of which `BoardChange` says why it is enough."""
    with (
        connection.cursor() as cursor
    ):  # the object mapper takes longer to build this query than the database to answer
        cursor.execute(STATE_QUERY)
        return BoardsState(*cursor.fetchone())


@dataclass(frozen=True, slots=True)
class Currency:
    """How current a stored board is.

    `built_at` and `snapshot_id` are None where there is no snapshot. `is_fresh`: it covers exactly the runs that are
    listed and the tasks installed. `n_waiting` counts listed runs that it does not cover yet.
    """

    built_at: datetime | None
    is_fresh: bool
    n_waiting: int
    snapshot_id: int | None = None


@dataclass(frozen=True, slots=True)
class StoredBoard:
    """A board of a retrieval suite with how current it is."""

    board: Board
    currency: Currency


@dataclass(frozen=True, slots=True)
class StoredProbeTables:
    """Boards of a probing suite by scope and key, those that it has, and how current they are."""

    tables: Mapping[tuple[str, str], ProbeTable]
    currency: Currency

    def lacks(self, scope: ProbeBoardScope, key: str) -> bool:
        """Whether a board is not there, nor can be once there are statistics."""
        return (scope, key) not in self.tables and (self.currency.built_at is not None or key not in _PROBE_KEYS[scope])


_PROBE_KEYS = {
    ProbeBoardScope.OVERVIEW: ("",),
    ProbeBoardScope.MODALITY: tuple(Modality.values),
    ProbeBoardScope.LEVEL: tuple(Level.values),
}
"""Of the boards that a probing suite may have before it has statistics."""


Name = tuple[str, str]
"""The scope and key of a board."""

_tables: LRUCache[tuple[str, str, str], Board | ProbeTable] = LRUCache(CACHED_TABLES)
_lock, _reading = threading.Lock(), threading.Lock()


def stored_boards(suite: SuiteSummary, names: Sequence[tuple[AggregateScope, str]]) -> dict[Name, StoredBoard]:
    """Boards of a retrieval suite by scope and key, without rows of runs that are no longer listed.

    At most two queries: which tables are current, and the contents that this process has not in memory, or the tasks of
    a suite without a snapshot.
    """
    found = _current(suite, names)
    if not found:
        currency = Currency(None, is_fresh=False, n_waiting=suite.n_published)
        return {name: StoredBoard(board, currency) for name, board in _boards_without_rows(suite, names).items()}
    tables = _contents(
        found, lambda content, name: board_of_document(content, scope=AggregateScope(name[0]), key=name[1])
    )
    return {
        name: StoredBoard(_listed_rows(tables[name], current.listed), current.currency)
        for name, current in found.items()
    }


def stored_probe_tables(suite: SuiteSummary, names: Sequence[tuple[ProbeBoardScope, str]]) -> StoredProbeTables:
    """Boards of a probing suite, without rows of runs that are no longer listed. At most two queries.

    The overview, which every snapshot has, says how current all of them are.
    """
    overview = (ProbeBoardScope.OVERVIEW, "")
    found = _current(suite, [*names, overview])
    if not found:
        return StoredProbeTables({}, Currency(None, is_fresh=False, n_waiting=suite.n_published))
    chosen = {name: found[name] for name in names if name in found}
    tables = _contents(
        chosen, lambda content, name: probe_table_of_document(content, scope=ProbeBoardScope(name[0]), key=name[1])
    )
    return StoredProbeTables(
        {name: _listed_rows(tables[name], one.listed) for name, one in chosen.items()}, found[overview].currency
    )


@dataclass(frozen=True, slots=True)
class _Current:
    """A table of the current snapshot, without its content."""

    pk: int
    etag: str
    listed: frozenset[UUID]
    currency: Currency


def _current(suite: SuiteSummary, names: Sequence[Name]) -> dict[Name, _Current]:
    """The tables of these names in the current snapshot, with the runs that are listed at this moment. One query."""
    wanted = Q(pk__in=[])
    for scope, key in names:
        wanted |= Q(scope=scope, key=key)
    rows = (
        BoardTable.objects.filter(wanted, layout=LAYOUT, snapshot__suite=suite.pk, snapshot__is_current=True)
        .order_by()
        .values_list(
            "pk", "scope", "key", "etag", "snapshot", "snapshot__built_at", "snapshot__runs", "snapshot__tasks",
            ArraySubquery(Run.objects.filter(LISTED, suite=suite.pk).order_by().values("pk")),
            ArraySubquery(Task.objects.filter(suite=suite.pk, is_installed=True).order_by().values("name")),
        )
    )  # fmt: skip
    found = {}
    for pk, scope, key, etag, snapshot_id, built_at, runs, tasks, listed_runs, installed in rows:
        covered, listed = frozenset(runs), frozenset(listed_runs)
        currency = Currency(
            built_at,
            is_fresh=covered == listed and frozenset(tasks) == frozenset(installed),
            n_waiting=len(listed - covered),
            snapshot_id=snapshot_id,
        )
        found[scope, key] = _Current(pk, etag, listed, currency)
    return found


def _contents(found: Mapping[Name, _Current], read: Callable[[Any, Name], Any]) -> dict[Name, Any]:
    """The tables' contents: from memory, and for the others with one query.

    One thread reads at a time: those that want the same table at once would all read it.
    """
    known = _remembered(found)
    if len(known) == len(found):
        return known
    with _reading:
        known = _remembered(found)
        lacking = {one.pk: name for name, one in found.items() if name not in known}
        contents = BoardTable.objects.filter(pk__in=lacking).order_by().values_list("pk", "content")
        loaded = {lacking[pk]: read(content, lacking[pk]) for pk, content in contents} if lacking else {}
        with _lock:
            for name, table in loaded.items():
                _tables[*name, found[name].etag] = table
    return known | loaded


def _remembered(found: Mapping[Name, _Current]) -> dict[Name, Any]:
    with _lock:
        return {name: _tables[*name, one.etag] for name, one in found.items() if (*name, one.etag) in _tables}


def _listed_rows(table: Table, listed: Collection[UUID]) -> Table:
    return replace(table, rows=tuple(row for row in table.rows if row.model.run_id in listed))


def _boards_without_rows(suite: SuiteSummary, names: Sequence[tuple[AggregateScope, str]]) -> dict[Name, Board]:
    """Boards of a suite without results, with the tasks that they will have. One query."""
    tasks = list(Task.objects.filter(suite=suite.pk).order_by("position"))
    return {
        (scope, key): Board(
            scope=scope,
            key=key,
            rows=(),
            tasks=()
            if scope == AggregateScope.OVERALL
            else tuple(board_task(task) for task in tasks if key in keys_of(task, scope)),
        )
        for scope, key in names
    }

"""Stores the boards of a snapshot, so that a page only has to read them."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from leaderboard.models import BoardSnapshot, BoardTable
from leaderboard.models.vocabulary import SuiteKind
from leaderboard.selectors.board_documents import board_document
from leaderboard.selectors.board_layout import LAYOUT
from leaderboard.selectors.board_making import boards_of_snapshot
from leaderboard.selectors.known_training import KnownTraining
from leaderboard.selectors.probe_documents import probe_table_document
from leaderboard.selectors.probe_tables import probe_tables_of_snapshot


def board_tables_store(*, snapshot: BoardSnapshot, training: Mapping[UUID, KnownTraining]) -> None:
    """Make every board of a snapshot and store it; belongs into the transaction that stores the snapshot.

    `training` is what is known of the training data of each run's model.
    """
    BoardTable.objects.bulk_create(
        (
            BoardTable(snapshot=snapshot, scope=scope, key=key, layout=LAYOUT, content=content, etag=_digest(content))
            for scope, key, content in _documents(snapshot, training)
        ),
        batch_size=1,
    )


def _documents(
    snapshot: BoardSnapshot, training: Mapping[UUID, KnownTraining]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if snapshot.suite.kind == SuiteKind.PROBING:
        for table in probe_tables_of_snapshot(snapshot, training):
            yield table.scope.value, table.key, probe_table_document(table)
    else:
        for board in boards_of_snapshot(snapshot, training):
            yield board.scope.value, board.key, board_document(board)


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

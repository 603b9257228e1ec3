"""Stores the statistics of boards."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from leaderboard.models import BoardChange, BoardSnapshot
from leaderboard.services.board_tables import board_tables_store

EARLIER_KEPT = 2

_LOCK_SPACE = 0x5A47
"""Keeps the locks of snapshots apart from other advisory locks of the database."""


@transaction.atomic
def snapshot_store(
    *,
    suite_id: int,
    content: Mapping[str, Any],
    run_ids: Sequence[UUID],
    tasks: Sequence[str],
    differences: Mapping[str, Any],
    left_out: Mapping[str, Sequence[str]],
) -> BoardSnapshot:
    """Make new statistics the current ones of a suite, with the boards made of them.

    A few earlier ones stay for pages that are reading them. Storing announced a change of the boards, so what earlier
    changes were announced by can go.
    """
    earlier = BoardSnapshot.objects.filter(suite=suite_id)
    earlier.update(is_current=False)
    kept = list(earlier.order_by("-built_at", "-pk").values_list("pk", flat=True)[:EARLIER_KEPT])
    earlier.exclude(pk__in=kept).delete()
    snapshot = BoardSnapshot.objects.create(
        suite_id=suite_id, content=content, runs=run_ids, tasks=tasks, differences=differences, left_out=left_out
    )
    board_tables_store(snapshot=snapshot)
    BoardChange.objects.filter(pk__lt=BoardChange.objects.aggregate(last=Max("pk"))["last"]).delete()
    return snapshot


def snapshot_retire(*, suite_id: int) -> None:
    """Take the statistics of a suite away when none of its runs is published any more."""
    BoardSnapshot.objects.filter(suite=suite_id).update(is_current=False)


@contextmanager
def snapshot_turn(suite_id: int) -> Iterator[bool]:
    """Whether it is this worker's turn to compute a suite's statistics: False while another one does.

    The lock belongs to the database connection, so it is free again as soon as the worker is gone.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [_LOCK_SPACE, suite_id])
        (is_ours,) = cursor.fetchone()
    try:
        yield is_ours
    finally:
        if is_ours:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [_LOCK_SPACE, suite_id])

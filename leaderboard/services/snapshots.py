"""Stores the statistics of boards."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max

from leaderboard.models import BoardChange, BoardSnapshot, Suite
from leaderboard.selectors.known_training import training_digest, training_of_runs
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
    suite = Suite.objects.get(pk=suite_id)
    training = training_of_runs(run_ids)
    snapshot = BoardSnapshot.objects.create(
        suite=suite,
        content=content,
        runs=run_ids,
        tasks=tasks,
        differences=differences,
        left_out=left_out,
        training_data=training_digest(training) if training else "",
    )
    board_tables_store(snapshot=snapshot, training=training)
    BoardChange.objects.filter(pk__lt=BoardChange.objects.aggregate(last=Max("pk"))["last"]).delete()
    return snapshot


@transaction.atomic
def snapshot_mark_anew(*, suite_id: int) -> BoardSnapshot:
    """Make the boards of a suite anew with what is known of training data now; the statistics stay what they are."""
    present = BoardSnapshot.objects.select_for_update().get(suite=suite_id, is_current=True)
    renewed = snapshot_store(
        suite_id=suite_id,
        content=present.content,
        run_ids=present.runs,
        tasks=present.tasks,
        differences=present.differences,
        left_out=present.left_out,
    )
    renewed.built_at = present.built_at
    renewed.save(update_fields=["built_at"])
    return renewed


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

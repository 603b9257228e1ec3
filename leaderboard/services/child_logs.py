"""Keeps the end of what evaluating children write, for the people whose models they evaluate."""

from uuid import UUID

from leaderboard.models import ChildLog
from leaderboard.models.logs import CHILD_LOG_CHARACTERS


def child_log_store(*, run_id: UUID, worker: str, text: str) -> None:
    """Put a worker's log of a run in the place of what it stored before; only the end of a long one is kept.

    `text` must not name folders, addresses or secrets of the worker: the caller has taken them out.
    """
    kept = text.replace("\x00", "")[-CHILD_LOG_CHARACTERS:]
    ChildLog.objects.update_or_create(run_id=run_id, worker=worker, defaults={"text": kept})

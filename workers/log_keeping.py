"""Takes the end of a child's log to the database, where the submitter can read it."""

from pathlib import Path

from django.conf import settings

from leaderboard.services.child_logs import child_log_store
from workers.child_log import log_excerpt


def keep_child_log(*, run_id: object, worker: str, path: Path) -> None:
    """Store what a run's children wrote on this worker, without its folders and its token. No log, nothing stored."""
    if path.is_file():
        child_log_store(run_id=run_id, worker=worker, text=log_excerpt(path, secrets=(settings.HUB_TOKEN,)))

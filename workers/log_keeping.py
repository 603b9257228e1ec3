"""Takes the end of a child's log to the database, where the submitter can read it."""

from pathlib import Path

from django.conf import settings

from leaderboard.models.logs import CHILD_LOG_CHARACTERS
from leaderboard.services.child_logs import child_log_store
from workers.child import BASE_DIR


def keep_child_log(*, run_id: object, worker: str, path: Path) -> None:
    """Store what a run's children wrote on this worker, without its folders and its token. No log, nothing stored."""
    if path.is_file():
        child_log_store(run_id=run_id, worker=worker, text=_shown(_end_of(path)))


def _end_of(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - CHILD_LOG_CHARACTERS))
        return file.read().decode(errors="replace")


def _shown(text: str) -> str:
    if settings.HUB_TOKEN:
        text = text.replace(settings.HUB_TOKEN, "[hidden]")
    own = {settings.SUITES_DIR, settings.MODEL_CACHE_DIR, settings.EMBEDDING_STORE_DIR, settings.DATA_DIR, BASE_DIR}
    for folder in sorted((str(folder) for folder in own), key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return text

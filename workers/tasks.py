"""Celery tasks: thin. A message says that there may be work; what there is stands in the database."""

import logging
from typing import Any

from celery.signals import celeryd_init, worker_ready, worker_shutting_down

from leaderboard.queue import BUILD_SNAPSHOT, HEAR_BELL
from leaderboard.services.administration import worker_report
from leaderboard.services.api_tokens import api_tokens_expire
from leaderboard.services.leases import leases_reap
from leaderboard.services.retention import old_records_delete
from workers.catalogue import sync_catalogue
from workers.celery import DELETE_OLD_RECORDS, REAP, app
from workers.checks import start_of, start_problems
from workers.comparisons import build_comparisons
from workers.identity import worker_identity
from workers.notifications.messenger import Messenger
from workers.presence import Presence
from workers.runner import work_until_idle
from workers.shutdown import SHUTDOWN
from workers.snapshots import build_snapshot

logger = logging.getLogger(__name__)


@app.task(name=HEAR_BELL)
def hear_bell(run_id: str) -> None:
    """Work until nothing is left to do. `run_id` only says what the bell was rung for."""
    work_until_idle(worker_identity())


@app.task(name=BUILD_SNAPSHOT)
def renew_statistics(suite_id: int) -> None:
    """Compute the statistics of a suite if they do not cover what is published, and what reruns are compared with."""
    build_snapshot(suite_id)
    build_comparisons()


@app.task(name=REAP)
def reap() -> None:
    """Take back leases of workers that vanished, ring for what waits, and note which API tokens have expired."""
    leases_reap()
    api_tokens_expire()


@app.task(name=DELETE_OLD_RECORDS)
def delete_old_records() -> None:
    """Delete what is no result and was kept long enough."""
    deleted = old_records_delete()
    logger.info("deleted %d old logs and %d old messages", deleted.child_logs, deleted.deliveries)


@celeryd_init.connect
def refuse_bad_settings(options: dict[str, Any], **_signal: Any) -> None:
    """A worker whose settings do not fit together, or that cannot seal anything off, ends at once and says all of why.

    Raises:
        SystemExit: they do not.
    """
    if problems := start_problems(start_of(options)):
        raise SystemExit("This worker does not start:\n" + "\n".join(f"- {problem}" for problem in problems))


@worker_ready.connect
def report_and_look_for_work(**_signal: Any) -> None:
    """A worker that starts says who it is, brings the catalogue up to date and rings for what was left waiting."""
    identity = worker_identity()
    sync_catalogue()
    worker_report(
        name=identity.name,
        device=identity.device,
        worker_class=identity.worker_class,
        versions=identity.versions,
    )
    Presence(identity.name).start()
    Messenger().start()
    leases_reap()


@worker_shutting_down.connect
def give_work_back(**_signal: Any) -> None:
    """A worker that is told to stop finishes its task or drops it; another can take up what it held at once."""
    SHUTDOWN.request()

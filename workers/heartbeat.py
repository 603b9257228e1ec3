"""Keeps a worker's leases while it works, and tells it when it has lost them."""

import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.config.logs import about_run
from leaderboard.exceptions import LeaseLost
from leaderboard.services.leases import leases_renew, run_is_worked_on

logger = logging.getLogger(__name__)


class Heartbeat:
    """A thread that renews what `worker` holds in a run, every `HEARTBEAT_SECONDS`.

    Every `CANCEL_POLL_SECONDS` it asks whether the run, taken with number `claim`, goes on at all. When the run was
    cancelled or its leases were given to another, it calls `on_lost` once and stops. A database that does not answer is asked again; if that lasts longer than the lease, others take over, and the next write says so.
    """

    def __init__(self, *, run_id: UUID, claim: int, worker: str, on_lost: Callable[[], None]) -> None:
        self._run_id = run_id
        self._claim = claim
        self._worker = worker
        self._on_lost = on_lost
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"heartbeat {run_id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _beat(self) -> None:
        with about_run(self._run_id):
            try:
                due = time.monotonic() + settings.HEARTBEAT_SECONDS
                while not self._stopped.wait(min(settings.CANCEL_POLL_SECONDS, settings.HEARTBEAT_SECONDS)):
                    renews = time.monotonic() >= due
                    if renews:
                        due = time.monotonic() + settings.HEARTBEAT_SECONDS
                    if not self._goes_on(renews=renews):
                        self._on_lost()
                        return
            finally:
                connection.close()

    def _goes_on(self, *, renews: bool) -> bool:
        try:
            if not run_is_worked_on(run_id=self._run_id, claim=self._claim):
                logger.warning("run %s: cancelled, ended or put back", self._run_id)
                return False
            if renews:
                leases_renew(run_id=self._run_id, worker=self._worker)
        except LeaseLost as lost:
            logger.warning("%s", lost)
            return False
        except (DatabaseError, InterfaceError) as error:
            logger.warning("heartbeat of run %s could not reach the database: %s", self._run_id, error)
            connection.close()
        return True

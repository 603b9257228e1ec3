"""Keeps a worker's leases while it works, and tells it when it has lost them."""

import logging
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.config.logs import about_run
from leaderboard.exceptions import LeaseLost
from leaderboard.services.leases import leases_renew

logger = logging.getLogger(__name__)


class Heartbeat:
    """A thread that renews what `worker` holds in a run, every `HEARTBEAT_SECONDS`.

    When the run was cancelled or its leases were given to another, it calls `on_lost` once and stops. A database that
    does not answer is asked again; if that lasts longer than the lease, others take over, and the next write says so.
    """

    def __init__(self, *, run_id: UUID, worker: str, on_lost: Callable[[], None]) -> None:
        self._run_id = run_id
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
                while not self._stopped.wait(settings.HEARTBEAT_SECONDS):
                    if not self._renew():
                        self._on_lost()
                        return
            finally:
                connection.close()

    def _renew(self) -> bool:
        try:
            leases_renew(run_id=self._run_id, worker=self._worker)
        except LeaseLost as lost:
            logger.warning("%s", lost)
            return False
        except (DatabaseError, InterfaceError) as error:
            logger.warning("heartbeat of run %s could not reach the database: %s", self._run_id, error)
            connection.close()
        return True

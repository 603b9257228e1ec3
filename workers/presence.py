"""Says that this worker is alive, also while it has nothing to do, and takes back the leases of those that are not."""

import logging
import threading

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.services.administration import worker_seen
from leaderboard.services.leases import leases_reap

logger = logging.getLogger(__name__)


class Presence(threading.Thread):
    """Reports a worker as seen every `LEASE_SECONDS`, for as long as the process lives, and reaps.

    The scheduled reaper's message can wait behind a long run, or be thrown away as expired by a worker whose clock is
    wrong; as long as a worker lives, no lease outlasts its holder by much.
    """

    def __init__(self, worker: str) -> None:
        super().__init__(name=f"presence of {worker}", daemon=True)
        self._worker = worker
        self._never = threading.Event()

    def run(self) -> None:
        """Report until the process ends."""
        while not self._never.wait(settings.LEASE_SECONDS):
            self._report()

    def _report(self) -> None:
        try:
            worker_seen(name=self._worker)
            leases_reap()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("could not report as seen: %s", error)
        finally:
            connection.close()

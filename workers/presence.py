"""Says that this worker is alive, also while it has nothing to do, and takes back the leases of those that are not."""

import contextlib
import logging
import threading

import psutil
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from leaderboard.services.administration import worker_seen
from leaderboard.services.leases import leases_reap
from workers.machine import memory_of_this_machine

logger = logging.getLogger(__name__)


class Presence(threading.Thread):
    """Reports a worker and its memory every `LEASE_SECONDS`, for as long as the process lives, and reaps.

    The scheduled reaper's message can wait behind a long run, or be thrown away as expired by a worker whose clock is
    wrong; as long as a worker lives, no lease outlasts its holder by much.
    """

    def __init__(self, worker: str) -> None:
        super().__init__(name=f"presence of {worker}", daemon=True)
        self._worker = worker
        self._never = threading.Event()

    def run(self) -> None:
        """Report until the process ends."""
        self._report()
        while not self._never.wait(settings.LEASE_SECONDS):
            self._report()

    def _report(self) -> None:
        try:
            worker_seen(
                name=self._worker,
                memory_bytes=resident_bytes(psutil.Process()),
                memory_total_bytes=memory_of_this_machine(),
            )
            leases_reap()
        except (DatabaseError, InterfaceError) as error:
            logger.warning("could not report as seen: %s", error)
        finally:
            connection.close()


def resident_bytes(process: psutil.Process) -> int:
    """The resident memory of a process and all of its descendants; those that end meanwhile do not count."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            total += one.memory_info().rss
    return total

"""Stopping a worker without making anybody wait for a lease to expire."""

import threading
import time
from collections.abc import Callable


class Shutdown:
    """Whether this process was told to stop, and what must be ended when it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self._grace = 0.0
        self._requested_at = 0.0
        self._timer: threading.Timer | None = None
        self.requested = False

    def request(self) -> None:
        """Stop: take no more work, and end what is being done, at once or when its grace is over."""
        with self._lock:
            if not self.requested:
                self.requested, self._requested_at = True, time.monotonic()
                self._arrange_end()

    def call_when_requested(self, end: Callable[[], None] | None, *, grace: float = 0.0) -> None:
        """Set what ends the current work (None: nothing), in the place of what was set before.

        It is called `grace` seconds after the stop is requested; at once if they have passed already.
        """
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._end, self._grace = end, grace
            if self.requested:
                self._arrange_end()

    def _arrange_end(self) -> None:
        if self._end is None:
            return
        left = self._requested_at + self._grace - time.monotonic()
        if left <= 0:
            self._end()
            return
        self._timer = threading.Timer(left, self._end)
        self._timer.daemon = True
        self._timer.start()


SHUTDOWN = Shutdown()

"""Stopping a worker without making anybody wait for a lease to expire."""

import threading
from collections.abc import Callable


class Shutdown:
    """Whether this process was told to stop, and what must be ended when it is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._on_request: Callable[[], None] | None = None
        self.requested = False

    def request(self) -> None:
        """Stop: take no more work, and end what is being done."""
        with self._lock:
            self.requested = True
            if self._on_request is not None:
                self._on_request()

    def call_when_requested(self, on_request: Callable[[], None] | None) -> None:
        """Set what ends the current work (None: nothing); called at once if the stop was already requested."""
        with self._lock:
            self._on_request = on_request
            if self.requested and on_request is not None:
                on_request()


SHUTDOWN = Shutdown()

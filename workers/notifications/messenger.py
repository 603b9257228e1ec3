"""The thread of a worker that sends messages, so that a long evaluation keeps nobody waiting for news."""

import logging
import threading

from django.db import connection

from workers.notifications.sending import send_due

SECONDS_BETWEEN_LOOKS = 5.0

logger = logging.getLogger(__name__)


class Messenger(threading.Thread):
    """Looks for due messages every few seconds, for as long as the process lives."""

    def __init__(self) -> None:
        super().__init__(name="messenger", daemon=True)
        self._never = threading.Event()

    def run(self) -> None:
        """Send until the process ends."""
        while not self._never.wait(SECONDS_BETWEEN_LOOKS):
            try:
                send_due()
            except Exception:
                # Whatever one message or a server does, the next ones are sent.
                logger.exception("a look for messages was cut short")
            finally:
                connection.close()

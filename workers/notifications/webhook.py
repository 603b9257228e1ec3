"""One signed HTTP request to an address that a person chose."""

import contextlib
import hashlib
import hmac
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from workers.notifications.addresses import Target

CONNECT_SECONDS = 5.0
SECONDS = 10.0
"""For the whole request: a receiver that answers drop by drop does not hold a worker."""


def signature(secret: str, *, timestamp: int, body: bytes) -> str:
    """The value of the signature header: HMAC-SHA256 of timestamp, a dot and the body, in hexadecimal."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"


def body_of(content: Mapping[str, Any]) -> bytes:
    """The same bytes for the same content, in every attempt."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def post(
    target: Target,
    *,
    content: Mapping[str, Any],
    secret: str,
    delivery_id: UUID,
    timestamp: int,
    seconds: float = SECONDS,
) -> int:
    """Send a message to a checked target and return the HTTP status. Redirections are not followed, no proxy is used.

    Raises:
        OSError, http.client.HTTPException: the receiver could not be reached, or did not answer in time.
    """
    body = body_of(content)
    headers = {
        "Host": target.name,
        "Content-Type": "application/json",
        "User-Agent": "MedBoard",
        "MedBoard-Event": str(content["event"]),
        "MedBoard-Delivery": str(delivery_id),
        "MedBoard-Timestamp": str(timestamp),
        "MedBoard-Signature": signature(secret, timestamp=timestamp, body=body),
    }
    connection = _Connection(target)
    timer = threading.Timer(seconds, connection.cut)
    timer.daemon = True
    timer.start()
    try:
        connection.request("POST", target.path, body=body, headers=headers)
        return connection.getresponse().status
    finally:
        timer.cancel()
        connection.close()


class _Connection(http.client.HTTPConnection):
    """A connection to a number that was checked, whatever its name resolves to by now."""

    def __init__(self, target: Target) -> None:
        super().__init__(target.host, target.port, timeout=CONNECT_SECONDS)
        self._target = target
        self._is_cut = False

    def connect(self) -> None:
        plain = self._reached()
        plain.settimeout(SECONDS)
        self.sock = plain
        if self._is_cut:
            raise TimeoutError("connecting took all the time there was")
        if self._target.scheme == "https":
            encrypted = ssl.create_default_context().wrap_socket(
                plain, server_hostname=self._target.host, do_handshake_on_connect=False
            )
            self.sock = encrypted  # before the handshake, so that it can be cut too
            encrypted.do_handshake()

    def _reached(self) -> socket.socket:
        """A connection to the first number that takes one."""
        *others, last = self._target.numbers
        for number in others:
            with contextlib.suppress(OSError):
                return socket.create_connection((number, self._target.port), timeout=CONNECT_SECONDS)
        return socket.create_connection((last, self._target.port), timeout=CONNECT_SECONDS)

    def cut(self) -> None:
        """End whatever the connection waits for; reading or writing then raises an `OSError`."""
        self._is_cut = True
        if self.sock is not None:
            with contextlib.suppress(OSError):  # it may not be connected any more
                self.sock.shutdown(socket.SHUT_RDWR)

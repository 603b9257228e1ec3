"""A way to a server's socket that tests can close: connections are cut, and new ones refused, until it is opened."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self


class Gate:
    """Passes connections on a port of loopback on to a Unix socket."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.port = 0
        self.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def open(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        """Refuse, and cut what is open."""
        with self._lock:
            listener, self._listener = self._listener, None
            cut, self._open = self._open, set()
        if listener is not None:
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread, which a close alone would not
            listener.close()
        for connection in cut:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        self.close()
        yield
        self.open()

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(str(self._target))
                except OSError:
                    server.close()
                    client.close()
                    continue
                threading.Thread(target=self._carry, args=(listener, client, server), daemon=True).start()

    def _carry(self, listener: socket.socket, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            with self._lock:
                if self._listener is not listener:
                    return
                self._open |= {client, server}
            back = threading.Thread(target=_pass, args=(server, client), daemon=True)
            back.start()
            _pass(client, server)
            back.join()
            with self._lock:
                self._open -= {client, server}


def _pass(source: socket.socket, sink: socket.socket) -> None:
    """Pass on what comes, and end both ways with either."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)

"""A proxy on loopback that cuts every connection after so many bytes of the answer."""

import contextlib
import socket
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def cutting_proxy(port: int, *, after: int) -> Iterator[str]:
    """Pass connections on to a port of this machine; each is cut once `after` bytes have come back on it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_accept, args=(listener, port, after), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        # Wakes the thread, which a close alone would not.
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _accept(listener: socket.socket, port: int, after: int) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", port))
            threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
            threading.Thread(target=_pass_back, args=(server, client, after), daemon=True).start()


def _pass_on(client: socket.socket, server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := client.recv(65536):
            server.sendall(data)


def _pass_back(server: socket.socket, client: socket.socket, after: int) -> None:
    with server, client, contextlib.suppress(OSError):
        while after > 0 and (data := server.recv(min(after, 65536))):
            client.sendall(data)
            after -= len(data)
        for end in (server, client):
            end.shutdown(socket.SHUT_RDWR)

"""Errors go to the service that is set, without anything that could be secret."""

import gzip
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator

import brotli
import pytest

from tests.processes import BASE_DIR

UNPACKED = {"gzip": gzip.decompress, "br": brotli.decompress, None: bytes}
SCRIPT = """
import logging, sys
from leaderboard.config.error_service import start_error_reports
start_error_reports(sys.argv[1])
def fail(password):
    raise ValueError("it broke")
try:
    fail("secret-of-a-caller")
except ValueError:
    logging.getLogger("workers").exception("a run could not be read")
import sentry_sdk
sentry_sdk.flush(timeout=5)
"""


@pytest.fixture
def service() -> Iterator[tuple[str, list[str]]]:
    """The address of a service that takes what it is sent, and what that was."""
    received: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(UNPACKED[self.headers["Content-Encoding"]](body).decode())
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://key@127.0.0.1:{server.server_port}/1", received
    server.shutdown()
    thread.join()
    server.server_close()


def report_to(address: str) -> None:
    command = [sys.executable, "-c", SCRIPT, address]
    subprocess.run(command, cwd=BASE_DIR, env={"PATH": "/usr/bin:/bin"}, check=True, timeout=60)


def test_an_error_is_reported_with_its_place_and_without_values(service: tuple[str, list[str]]) -> None:
    address, received = service
    report_to(address)
    told = "".join(received)
    assert "it broke" in told
    assert '"function":"fail"' in told.replace(": ", ":")
    assert "secret-of-a-caller" not in told


def test_nothing_is_reported_without_an_address(service: tuple[str, list[str]]) -> None:
    _, received = service
    report_to("")
    assert received == []

"""A whole board as `make run` starts it, in a folder of its own, and a real browser."""

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser_setup import find_browser
from tests.processes import WatchedProcess, watched

BROWSER_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OWN_CERTIFICATE = ["--ignore-certificate-errors"]  # the proxy of `make prod-check` has made it itself
SERVER_ADDRESSES = ("DATABASE_URL", "REDIS_URL", "HUB_ENDPOINT", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")


@dataclass(frozen=True, slots=True)
class Board:
    """A running board."""

    address: str
    panel_address: str
    data_dir: Path
    process: WatchedProcess | None

    @property
    def admin_password(self) -> str:
        return (self.data_dir / "admin-password").read_text()


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


@pytest.fixture(scope="session")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    """The board on its own embedded servers and local hub; Ctrl-C must end it cleanly.

    `make prod-check` names a board that runs already, by its address and its data folder.
    """
    if "MEDBOARD_RUNNING_BOARD" in os.environ:
        address = os.environ["MEDBOARD_RUNNING_BOARD"]
        yield Board(address, f"{address}/panel", Path(os.environ["MEDBOARD_DATA_DIR"]), process=None)
        return
    data_dir = tmp_path_factory.mktemp("board")
    site, hub, panel = free_ports(3)
    own = {
        "MEDBOARD_DATA_DIR": str(data_dir),
        "MEDBOARD_PORT": str(site),
        "MEDBOARD_HUB_PORT": str(hub),
        "MEDBOARD_PANEL_PORT": str(panel),
        "REAPER_SECONDS": "2",
        "LEASE_SECONDS": "20",
    }
    with pytest.MonkeyPatch.context() as environment:
        for name in SERVER_ADDRESSES:
            environment.delenv(name, raising=False)
        with watched(["-m", "workers.launcher"], own) as process:
            process.wait_for("MedBoard is at", seconds=300)
            process.wait_for("celery.apps.worker: ", seconds=120)  # "worker1@host ready."
            yield Board(
                address=f"http://127.0.0.1:{site}",
                panel_address=f"http://127.0.0.1:{panel}/panel",
                data_dir=data_dir,
                process=process,
            )
            assert process.interrupt() == 0
            assert not (data_dir / "postgres" / "postmaster.pid").exists()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of a file: while it is open, Django takes this thread for that of an event loop."""
    path = find_browser()
    assert path, "no Chromium was found: run `python -m tests.browser_setup`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=BROWSER_ARGUMENTS + OWN_CERTIFICATE * ("MEDBOARD_RUNNING_BOARD" in os.environ),
            env={**os.environ, "HOME": "/tmp"},  # noqa: S108 - its cache
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page; anything that the browser reports as an error fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(15_000)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert problems == []

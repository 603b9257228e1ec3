"""A local hub and a `huggingface_hub` that leaves nothing outside the test's folder."""

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants
from huggingface_hub.utils import close_session

from tests.workers.hub_helpers import RequestLog
from workers.local_hub.server import LocalHub, running_hub


@pytest.fixture(autouse=True)
def isolated_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No cache, token, telemetry, proxy or open connection is shared with anything outside the test."""
    home = tmp_path / "hf-home"
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_PROGRESS_BARS", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    close_session()
    yield
    close_session()


@pytest.fixture
def hub_root(tmp_path: Path) -> Path:
    root = tmp_path / "hub-root"
    root.mkdir()
    return root


@pytest.fixture
def hub(hub_root: Path) -> Iterator[LocalHub]:
    with running_hub(hub_root) as server:
        yield server


@pytest.fixture
def closed_endpoint() -> str:
    """An address on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def silent_endpoint() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def request_log() -> Iterator[RequestLog]:
    log = RequestLog()
    logger = logging.getLogger("workers.local_hub.server")
    before = logger.level
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    yield log
    logger.removeHandler(log)
    logger.setLevel(before)

"""A board of real processes on the test's database, a broker of its own and a local hub."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from leaderboard import queue
from tests.faults.boards import LEASE_SECONDS, REAPER_SECONDS, Board, running_valkey, write_suite
from tests.faults.gate import Gate
from workers.catalogue import sync_catalogue
from workers.local_hub.server import running_hub

N_TASKS = 30


@pytest.fixture
def database_gate() -> Iterator[Gate]:
    """The way to the test's database, which can be closed."""
    database = settings.DATABASES["default"]
    host = database["OPTIONS"].get("host") or database["HOST"]
    with Gate(Path(host) / f".s.PGSQL.{database['PORT'] or 5432}") as gate:
        yield gate


@pytest.fixture
def board(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    transactional_db: None,
    database_gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Board]:
    """The parameter, if there is one, is the number of tasks."""
    write_suite(tmp_path / "suites" / "example", n_tasks=getattr(request, "param", N_TASKS))
    (tmp_path / "hub").mkdir()
    with running_valkey(tmp_path / "valkey") as valkey, running_hub(tmp_path / "hub") as hub:
        broker = f"{valkey.connection_url}/0"
        monkeypatch.setattr(settings, "HUB_ENDPOINT", hub.endpoint)
        monkeypatch.setattr(settings, "SUITES_DIR", tmp_path / "suites")
        monkeypatch.setattr(settings, "REDIS_URL", broker)
        queue._client.cache_clear()
        sync_catalogue()
        environment = {
            "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings",
            "DATABASE_URL": f"postgres://postgres@127.0.0.1:{database_gate.port}/{connection.settings_dict['NAME']}",
            "REDIS_URL": broker,
            "SECRET_KEY": settings.SECRET_KEY,
            "HUB_ENDPOINT": hub.endpoint,
            "MEDBOARD_DATA_DIR": str(tmp_path / "data"),
            "SUITES_DIR": str(tmp_path / "suites"),
            "LEASE_SECONDS": str(LEASE_SECONDS),
            "REAPER_SECONDS": str(REAPER_SECONDS),
            "SANDBOX": "none",
            "RETRY_SECONDS": "1",
            "OMP_NUM_THREADS": "1",
        }
        board = Board(tmp_path, environment, valkey)
        try:
            yield board
        finally:
            board.processes.end()
            queue._client.cache_clear()

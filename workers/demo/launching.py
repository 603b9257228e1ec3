"""What `make run` does for the demo panel: its addresses, its processes and its galleries."""

import logging
import os
import secrets
import sys
from collections.abc import Mapping
from urllib.parse import quote, urlsplit, urlunsplit

from honcho.manager import Manager

from workers.demo.configuration import BASE_DIR, data_dir, panel_model

ROLE = "medboard_panel"
_KEPT_FROM_PANEL = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "HUB_TOKEN", "EMAIL_URL", "METRICS_TOKEN")
# Celery sets up Django where it finds its settings; the interactive worker knows no database.
_KEPT_FROM_WORKER = (*_KEPT_FROM_PANEL, "PANEL_DATABASE_URL", "DJANGO_SETTINGS_MODULE")

logger = logging.getLogger(__name__)


def panel_environment(port: int) -> None:
    """Fill what the environment does not say of the panel: a role on the board's database, an address on this machine."""
    os.environ.setdefault("PANEL_MODEL", panel_model())
    os.environ.setdefault("PANEL_URL", f"http://127.0.0.1:{port}/panel/")
    os.environ.setdefault("PANEL_DATABASE_URL", _as_role(os.environ["DATABASE_URL"], ROLE, _password()))


def _password() -> str:
    """The role's password, made once for this machine."""
    file = data_dir() / "panel-password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24))
    return file.read_text()


def _as_role(url: str, name: str, password: str) -> str:
    """A database's address with another user."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{name}:{quote(password, safe='')}@{place}"))


def add_panel_processes(manager: Manager, *, port: int, environment: Mapping[str, str]) -> None:
    """The panel and its worker; neither is told the addresses and secrets of the board."""
    python = sys.executable
    commands = {
        "panel": (f"{python} -m workers.demo --port {port}", _KEPT_FROM_PANEL),
        "interactive": (
            f"{python} -m celery -A workers.demo.celery worker -n interactive@%h --concurrency 1 --loglevel info",
            _KEPT_FROM_WORKER,
        ),
    }
    for name, (command, kept) in commands.items():
        own = {key: value for key, value in environment.items() if key not in kept}
        manager.add_process(name, command, cwd=str(BASE_DIR), env=own)


def fill_galleries() -> None:
    """Index what lies on this machine; needs Django set up. What goes wrong is logged and leaves the board running."""
    from leaderboard.exceptions import ApplicationError  # noqa: PLC0415 - needs Django set up
    from workers.demo.indexing import index_suites  # noqa: PLC0415 - the same

    try:
        for line in index_suites([]):
            logger.info("%s", line)
    except ApplicationError as error:
        logger.warning("the demo panel's galleries are not filled: %s", error.message)

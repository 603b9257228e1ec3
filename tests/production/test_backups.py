"""A backup is restored into an empty database, and every row of every table is there again."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from leaderboard import database_tools
from leaderboard.database_tools import find_tool
from leaderboard.exceptions import BackupFailed
from leaderboard.models import Run
from tests.factories import make_published_run, make_run, make_suite, make_user
from tests.processes import BASE_DIR
from tests.production.databases import address_of, all_rows, definitions, new_database

pytestmark = pytest.mark.django_db(transaction=True)


def restore(file: Path, address: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "DATABASE_URL": address, "REDIS_URL": "redis://127.0.0.1:1/0"}
    return subprocess.run(
        [sys.executable, "manage.py", "restore", str(file)],
        cwd=BASE_DIR,
        env={**environment, "SECRET_KEY": "of a test", "MEDBOARD_DATA_DIR": str(file.parent)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_row_of_every_table_is_there_again(tmp_path: Path) -> None:
    suite = make_suite(n_tasks=6)
    make_published_run(suite=suite, hit=0.75, user=make_user('o"Brien, Ünïcode\\'))
    make_run(suite=suite)
    file = tmp_path / "board.backup"
    call_command("backup", file, stdout=io.StringIO())
    assert not list(tmp_path.glob("*.partial"))
    assert file.stat().st_mode & 0o077 == 0, "nobody else can read it"
    source = address_of(connection.settings_dict["NAME"])
    before = all_rows(source)
    assert len(before["leaderboard_taskrun"]) == 12
    Run.objects.update(expected_seconds=1)  # what comes after a backup is not in it
    with new_database("restored_board") as address:
        done = restore(file, address)
        assert done.returncode == 0, done.stderr
        assert all_rows(address) == before
        assert definitions(address) == definitions(source)
        again = restore(file, address)
        assert again.returncode == 1
        assert "empty one" in again.stderr
        assert all_rows(address) == before


def test_a_damaged_backup_restores_nothing(tmp_path: Path) -> None:
    make_published_run(suite=make_suite(n_tasks=3))
    file = tmp_path / "board.backup"
    call_command("backup", file, stdout=io.StringIO())
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 3 // 4])
    with new_database("restored_board") as address:
        done = restore(file, address)
        assert done.returncode == 1
        assert "pg_restore ended with status" in done.stderr
        assert all_rows(address) == {"sequences": []}


def test_a_backup_replaces_no_file_and_leaves_none_when_it_fails(tmp_path: Path) -> None:
    file = tmp_path / "board.backup"
    file.write_text("precious")
    with pytest.raises(CommandError, match="there already"):
        call_command("backup", file)
    assert file.read_text() == "precious"
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("backup", tmp_path / "no folder" / "board.backup")


def test_only_a_program_as_new_as_the_server_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = {}
    for version in (15, 18, 19):
        programs[version] = tmp_path / f"pg_dump{version}"
        programs[version].write_text(f"#!/bin/sh\necho 'pg_dump (PostgreSQL) {version}.1 (of a test)'\n")
        programs[version].chmod(0o755)
    monkeypatch.setattr(database_tools, "_candidates", lambda _: list(programs.values()))
    assert find_tool("pg_dump", server_major=15) == programs[15]
    assert find_tool("pg_dump", server_major=16) == programs[18]
    with pytest.raises(BackupFailed, match=r"version 20 or later.*postgresql-client-20"):
        find_tool("pg_dump", server_major=20)

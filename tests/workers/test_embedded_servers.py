"""Servers are started where no address is given, joined where one runs already, and left alone where one is given."""

import os
import subprocess
import sys
from pathlib import Path

from tests.processes import BASE_DIR

SCRIPT = """
import os, sys
from leaderboard.config import embedded
servers = embedded.start()
print(servers.postgres is not None, servers.valkey is not None, os.environ["DATABASE_URL"], os.environ["REDIS_URL"])
sys.stdout.flush()
sys.stdin.read()
servers.stop()
"""


def start(folder: Path, **addresses: str) -> tuple[subprocess.Popen[str], list[str]]:
    hidden = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        cwd=BASE_DIR,
        env={**kept, "MEDBOARD_DATA_DIR": str(folder), **addresses},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()


def stop(process: subprocess.Popen[str]) -> None:
    process.communicate()
    assert process.returncode == 0


def test_a_second_process_joins_the_servers_of_the_first_and_the_last_one_stops_them(tmp_path: Path) -> None:
    first, started = start(tmp_path)
    second, joined = start(tmp_path)
    assert started[:2] == ["True", "True"]
    assert joined[1] == "False", "Valkey is joined by its address"
    assert joined[2:] == started[2:]
    stop(second)
    third, still_there = start(tmp_path)
    assert still_there[2:] == started[2:]
    stop(third)
    stop(first)
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()
    assert not (tmp_path / "valkey" / "url").exists()


def test_given_addresses_are_used_and_nothing_is_started(tmp_path: Path) -> None:
    given = {"DATABASE_URL": "postgres://someone@elsewhere/board", "REDIS_URL": "redis://elsewhere:6379/0"}
    process, seen = start(tmp_path, **given)
    stop(process)
    assert seen == ["False", "False", *given.values()]
    assert not (tmp_path / "postgres").exists()

"""A database that is started again or cannot be reached while results come in."""

import contextlib
import random
import time

import psutil
import pytest
from django.db import OperationalError, connection

from tests.faults.boards import LONG, Board, n_stored
from tests.faults.gate import Gate
from tests.settings import SERVERS

SEED = 99


@pytest.mark.timeout(900)
def test_results_outlive_a_database_that_cannot_be_reached_or_crashes(board: Board, database_gate: Gate) -> None:
    rounds, outage = (5, 60) if LONG else (1, 3)
    chance = random.Random(SEED)
    board.start_beat()
    board.start_worker()
    run = board.submit("model", seconds=0.1)
    for _ in range(rounds):
        board.wait_until_stored(run, n_tasks=n_stored(run) + 2)
        time.sleep(chance.uniform(0, 0.5))
        with database_gate.closed():
            time.sleep(outage)
        board.wait_until_stored(run, n_tasks=n_stored(run) + 2)
        time.sleep(chance.uniform(0, 0.5))
        crash()
        wait_for_database()
    board.wait_until_ended([run], seconds=120)
    board.assert_at_rest([run])


def crash() -> None:
    """One of the server's processes is killed: it ends all others, cuts all connections and recovers from its log."""
    connection.close()
    victim = next(
        child for child in psutil.Process(SERVERS.postgres.get_pid()).children() if "checkpointer" in child.cmdline()[0]
    )
    victim.kill()


def wait_for_database() -> None:
    for _ in range(200):
        with contextlib.suppress(OperationalError):
            connection.ensure_connection()
            return
        time.sleep(0.05)
    raise AssertionError("the database did not come back")

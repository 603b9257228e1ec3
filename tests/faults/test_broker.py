"""A broker that forgets everything, is started again, or does not answer: bells are lost, work is not."""

import os
import signal
import time
from collections.abc import Callable

import pytest
import redis

from tests.faults.boards import LONG, Board


def flush(board: Board, seconds: float) -> None:
    redis.Redis.from_url(board.environment["REDIS_URL"]).flushall()


def restart(board: Board, seconds: float) -> None:
    board.valkey._desired_port = board.valkey.port
    board.valkey.terminate()
    board.valkey.start()


def stay_away(board: Board, seconds: float) -> None:
    board.valkey._desired_port = board.valkey.port
    board.valkey.stop()
    time.sleep(seconds)
    board.valkey.start()


def stand_still(board: Board, seconds: float) -> None:
    process = board.valkey._process
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGCONT)


@pytest.mark.timeout(600)
def test_no_run_is_lost_with_the_broker(board: Board) -> None:
    """While a run is in work, and while the next one waits to be heard."""
    board.start_beat()
    board.start_worker()
    outage = 60 if LONG else 3
    runs = []
    faults: list[Callable[[Board, float], None]] = (
        [flush, restart, stay_away, stand_still] if LONG else [flush, stay_away]
    )
    for number, fault in enumerate(faults):
        run = board.submit(f"model-{number}", seconds=0.05)
        runs.append(run)
        board.wait_until_stored(run, n_tasks=1)
        runs.append(board.submit(f"waiting-{number}", seconds=0))
        fault(board, outage)
        board.wait_until_ended(runs, seconds=120)
    board.assert_at_rest(runs)

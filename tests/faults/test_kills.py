"""Processes that are killed at any moment cost time and nothing else."""

import random
import time
import urllib.request

import psutil
import pytest

from leaderboard.models import Run
from tests.faults.boards import LONG, Board, fresh, n_stored

KILLED = ("worker", "child", "beat", "web")
SEED = 20_260


def kill(board: Board, what: str) -> bool:
    """SIGKILL to a process, if there is one of the kind."""
    if what == "child":
        child = board.processes.child_of("worker")
        try:
            if child is not None:
                child.kill()
        except psutil.NoSuchProcess:
            return False
        return child is not None
    board.processes.running[what].kill()
    return True


@pytest.mark.timeout(1800)
def test_processes_killed_at_random_moments_leave_the_scores_of_an_undisturbed_run(board: Board) -> None:
    n_kills, n_runs = (50, 4) if LONG else (6, 1)
    chance = random.Random(SEED)
    runs = [board.submit(f"model-{number}", seconds=0.25) for number in range(n_runs)]
    board.start_worker()
    board.start_beat()
    address = board.start_web()
    done = 0
    while done < n_kills:
        if done % 2 == 0:
            wait_for_a_task(board, runs)
        pause = time.monotonic() + chance.uniform(0.2, 3.0)
        board.wait_until(lambda end=pause: time.monotonic() > end, seconds=10, what="a pause")
        done += kill(board, chance.choice(KILLED))
    board.wait_until_ended(runs, seconds=120 * n_runs)
    board.assert_at_rest(runs)
    board.wait_until(lambda: answers(f"{address}/queue/"), seconds=30, what="the site")


def wait_for_a_task(board: Board, runs: list[Run]) -> None:
    """Losses without a task done in between are taken for the model's fault after three, so there are two at most."""
    before = sum(map(n_stored, runs))
    board.wait_until(
        lambda: sum(map(n_stored, runs)) > before or not any(fresh(run).is_active for run in runs),
        seconds=60,
        what="a task",
    )


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:  # noqa: S310 - the address is ours
            return answer.status == 200
    except OSError:
        return False

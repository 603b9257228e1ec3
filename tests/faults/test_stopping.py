"""A worker that is told to stop finishes its task or hands it back, and one that has nothing to do goes on at once.

Leases last far longer than these tests may take, and no beat rings: only what is handed back can be taken up. The runs
have one group of tasks, so that the worker that took it leaves nothing to the other.
"""

import signal
import time

import psutil
import pytest

from leaderboard.models import Run, Worker
from leaderboard.models.vocabulary import RunState, TaskRunState
from tests.faults.boards import TASKS_A_GROUP, Board, fresh, stored_tasks

LONG_LEASES = {"LEASE_SECONDS": "600", "REAPER_SECONDS": "600"}
FOREVER = 600.0

pytestmark = [
    pytest.mark.timeout(200),
    pytest.mark.parametrize("board", [TASKS_A_GROUP], indirect=True),
]


def start_workers(board: Board, *, count: int, grace: float) -> None:
    for number in range(count):
        board.start_worker(f"worker-{number}", WORKER_GRACE_SECONDS=str(grace), **LONG_LEASES)
    board.wait_until(lambda: Worker.objects.count() == count, seconds=60, what="the workers")


def stop(board: Board, owner: str) -> tuple[list[str], float]:
    """SIGTERM to the worker that holds leases under a name, once it has a child.

    The tasks that it stored, and the seconds until it ended by itself.
    """
    name = next(name for name, process in board.processes.running.items() if f"-{process.process.pid}-" in owner)
    worker = board.processes.running[name]
    board.wait_until(lambda: board.processes.child_of(name), seconds=60, what="a child")
    child = board.processes.child_of(name)
    assert child is not None
    started = time.monotonic()
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(timeout=60) == 0, board.story()
    seconds = time.monotonic() - started
    assert not psutil.pid_exists(child.pid)
    board.processes.retire(name)
    return stored_tasks(worker.lines), seconds


def preparing_worker(board: Board, run: Run) -> str:
    board.wait_until(lambda: fresh(run).state == RunState.PREPARING, seconds=60, what="a preparation")
    return fresh(run).lease_owner


def evaluating_worker(board: Board, run: Run) -> str:
    """The one that holds all tasks."""
    claimed = run.task_runs.filter(state=TaskRunState.CLAIMED)
    board.wait_until(lambda: claimed.count() == TASKS_A_GROUP, seconds=60, what="a claim of all tasks")
    (owner,) = set(claimed.values_list("lease_owner", flat=True))
    return owner


def assert_finished_without_a_loss(board: Board, run: Run) -> None:
    board.wait_until_ended([run], seconds=60)
    board.assert_at_rest([run])
    assert (fresh(run).lost_leases, fresh(run).retries) == (0, 0)
    assert not run.task_runs.exclude(lost_leases=0, retries=0).exists()


def test_the_task_in_work_is_finished_within_the_grace_and_others_are_handed_back(board: Board) -> None:
    start_workers(board, count=2, grace=FOREVER)
    run = board.submit("model", seconds=0.5)
    stored, _ = stop(board, evaluating_worker(board, run))
    assert len(stored) == 1
    assert_finished_without_a_loss(board, run)
    assert sorted(run.task_runs.values_list("claims", flat=True)) == [1, 2, 2]


def test_a_run_is_handed_back_before_its_model_is_loaded_and_when_a_task_outlasts_the_grace(board: Board) -> None:
    start_workers(board, count=3, grace=0.2)
    run = board.submit("model", seconds=1.0)
    assert stop(board, preparing_worker(board, run))[0] == []
    stored, seconds = stop(board, evaluating_worker(board, run))
    assert stored == []
    assert seconds >= 0.2
    assert_finished_without_a_loss(board, run)
    assert run.events.filter(to_state=RunState.QUEUED, reason="the worker was told to stop").count() == 1
    assert fresh(run).claims == 2
    assert set(run.task_runs.values_list("claims", flat=True)) == {2}

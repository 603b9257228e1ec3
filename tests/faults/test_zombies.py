"""A worker that stands still for longer than its lease, and goes on as if nothing had happened."""

import signal

import pytest

from leaderboard.models import Run
from tests.faults.boards import LONG, Board
from tests.processes import WatchedProcess

WORKERS = ("worker-a", "worker-b")


@pytest.mark.timeout(900)
def test_what_a_worker_writes_after_it_lost_its_lease_is_refused(board: Board) -> None:
    board.start_beat()
    board.start_worker(WORKERS[0])
    for number in range(5 if LONG else 1):
        run = board.submit(f"model-{number}", seconds=0.3)
        board.wait_until_stored(run, n_tasks=2)
        zombie = holder(board, run)
        told = len(losses(zombie))
        zombie.process.send_signal(signal.SIGSTOP)
        if number == 0:
            board.start_worker(WORKERS[1])
        wait_until_lost(board, run, zombie)
        zombie.process.send_signal(signal.SIGCONT)
        board.wait_until_ended([run], seconds=120)
        board.assert_at_rest([run])
        board.wait_until(lambda: len(losses(zombie)) > told, seconds=30, what="a refusal")  # noqa: B023 - asked here


def losses(worker: WatchedProcess) -> list[str]:
    """What a worker said when it was refused, by a write or by its heartbeat."""
    return [line for line in worker.lines if "is not held by" in line or "is not being worked on any more" in line]


def holder(board: Board, run: Run) -> WatchedProcess:
    """A worker that holds tasks of the run."""
    board.wait_until(lambda: owners(run), seconds=30, what="an owner")
    return next(
        process
        for process in (board.processes.running[name] for name in WORKERS if name in board.processes.running)
        if any(owner_name(process) in owner for owner in owners(run))
    )


def wait_until_lost(board: Board, run: Run, zombie: WatchedProcess) -> None:
    """Wait until others have what a worker held."""
    board.wait_until(
        lambda: not any(owner_name(zombie) in owner for owner in owners(run)), seconds=60, what="the end of a lease"
    )
    board.wait_until(lambda: owners(run), seconds=60, what="another owner")


def owner_name(process: WatchedProcess) -> str:
    """What stands in the name under which a worker holds leases: its process id."""
    return f"-{process.process.pid}-"


def owners(run: Run) -> set[str]:
    return {owner for owner in run.task_runs.values_list("lease_owner", flat=True) if owner}

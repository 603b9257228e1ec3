"""A worker that stands still for longer than its lease, and goes on as if nothing had happened."""

import signal

import pytest

from leaderboard.models import Run
from tests.faults.boards import LONG, Board, n_stored


@pytest.mark.timeout(900)
def test_what_a_worker_writes_after_it_lost_its_lease_is_refused(board: Board) -> None:
    board.start_beat()
    zombie = board.start_worker("worker-a").process
    for number in range(5 if LONG else 1):
        run = board.submit(f"model-{number}", seconds=0.2)
        board.wait_until_stored(run, n_tasks=2)
        zombie.send_signal(signal.SIGSTOP)
        held = owners(run)
        assert held
        if number == 0:
            board.start_worker("worker-b")
        wait_for_others(board, run, held)
        board.wait_until_stored(run, n_tasks=n_stored(run) + 1)
        zombie.send_signal(signal.SIGCONT)
        board.wait_until_ended([run], seconds=120)
        board.assert_at_rest([run])
    assert any("is not held by" in line for line in board.processes.lines("worker-a")), board.story()


def wait_for_others(board: Board, run: Run, held: set[str]) -> None:
    board.wait_until(lambda: owners(run) - held, seconds=60, what="another owner")


def owners(run: Run) -> set[str]:
    return {owner for owner in run.task_runs.values_list("lease_owner", flat=True) if owner}

"""A worker that stands still longer than its lease, and one whose clock is wrong."""

import signal

import pytest

from leaderboard.models import Run
from tests.faults.boards import LEASE_SECONDS, Board, fresh, n_stored


@pytest.mark.timeout(600)
def test_what_a_worker_writes_after_it_lost_its_lease_is_refused(board: Board, is_long: bool) -> None:
    rounds = 5 if is_long else 1
    board.start_beat()
    board.start_worker("worker-a")
    for number in range(rounds):
        run = board.submit(f"model-{number}", seconds=0.25)
        board.wait_until_stored(run, n_tasks=2)
        zombie = board.processes.running["worker-a"].process
        zombie.send_signal(signal.SIGSTOP)
        held = held_by(run)
        assert held
        if number == 0:
            board.start_worker("worker-b")
        board.wait_until(lambda run=run: held_by(run) - held, seconds=60, what="another owner")
        board.wait_until_stored(run, n_tasks=n_stored(run) + 1)
        zombie.send_signal(signal.SIGCONT)
        board.wait_until_ended([run], seconds=120)
        board.assert_at_rest([run])
    assert any("is not held by" in line for line in board.processes.lines("worker-a")), board.story()


def held_by(run: Run) -> set[str]:
    return {owner for owner in run.task_runs.values_list("lease_owner", flat=True) if owner}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", [-86_400, 86_400])
def test_a_worker_whose_clock_jumps_keeps_its_leases_and_takes_nobody_elses(board: Board, seconds: int) -> None:
    clock = board.folder / "clock"
    clock.write_text("0")
    board.start_beat()
    board.start_worker("worker-a", FAULTS_CLOCK_FILE=str(clock))
    board.start_worker("worker-b")
    run = board.submit("model", seconds=0.1)
    board.wait_until_stored(run, n_tasks=2)
    clock.write_text(str(seconds))
    board.wait_until_ended([run], seconds=120)
    board.assert_at_rest([run])
    assert not fresh(run).task_runs.filter(claims__gt=1).exists(), "no lease expired"
    assert LEASE_SECONDS < abs(seconds)

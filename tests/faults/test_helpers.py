"""Several workers on one run share its tasks: none is done twice, and the wall time falls."""

import itertools
import time
from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.models import Run, Worker
from tests.faults.boards import LONG, Board, stored_tasks


def ready_workers(board: Board, count: int, **of_the_first: str) -> list[str]:
    """Names of workers that run and wait for work; the first can have settings of its own."""
    names = [f"worker-{count}-{number}" for number in range(count)]
    known = Worker.objects.count()
    for name in names:
        board.start_worker(name, **(of_the_first if name == names[0] else {}))
    board.wait_until(lambda: Worker.objects.count() == known + count, seconds=60, what="the workers")
    return names


def evaluate(board: Board, name: str, *, seconds: float) -> tuple[Run, float]:
    """A run from submission to its end, and its wall time."""
    started = time.monotonic()
    run = board.submit(name, seconds=seconds)
    board.wait_until_ended([run], seconds=400)
    return run, time.monotonic() - started


@pytest.mark.timeout(300)
@pytest.mark.parametrize("jump", [86_400, -86_400] if LONG else [86_400])
def test_two_workers_share_a_run_though_the_clock_of_one_jumps(board: Board, jump: int) -> None:
    clock = board.folder / "clock"
    clock.write_text("0")
    board.start_beat()
    names = ready_workers(board, 2, FAULTS_CLOCK_FILE=str(clock))
    begun = timezone.now()
    run = board.submit("model", seconds=0.2)
    board.wait_until_stored(run, n_tasks=5)
    clock.write_text(str(jump))
    board.wait_until_ended([run], seconds=120)
    board.assert_at_rest([run])
    shares = [stored_tasks(board.processes.lines(name)) for name in names]
    assert sorted(itertools.chain(*shares)) == sorted(run.task_runs.values_list("task__name", flat=True))
    assert min(map(len, shares)) >= run.task_runs.count() / 5
    assert not run.task_runs.filter(claims__gt=1).exists(), "no lease may have expired"
    day = (timezone.now() + timedelta(seconds=jump)).strftime("%Y-%m-%d")
    assert any(line.startswith(day) for line in board.processes.lines(names[0])), "the clock did not jump"
    times = run.task_runs.values_list("finished_at", flat=True)
    assert begun < min(times) <= max(times) < timezone.now(), "what is recorded is the database's time"


@pytest.mark.timeout(900)
def test_wall_time_falls_with_the_number_of_workers(board: Board) -> None:
    if not LONG:
        pytest.skip("times are measured by `make faults`, on a machine that does nothing else")
    board.start_beat()
    walls = {}
    for count in (1, 2, 4):
        names = ready_workers(board, count)
        run, walls[count] = evaluate(board, f"model-{count}", seconds=2.0)
        board.assert_at_rest([run])
        done = Counter(task for name in names for task in stored_tasks(board.processes.lines(name)))
        assert set(done.values()) == {1}
        for name in names:
            board.processes.retire(name)
    assert walls[1] / walls[2] >= 1.8, walls
    assert walls[1] / walls[4] >= 2.5, walls

"""Cancelling frees the worker within seconds, also while a child works: real worker, real child."""

import threading
from pathlib import Path

import psutil
import pytest

from leaderboard.models import Run
from leaderboard.models.vocabulary import RunState
from leaderboard.services.leases import run_next_claim
from leaderboard.services.runs import run_cancel
from tests.factories import make_run, make_suite
from tests.processes import WatchedProcess, watched
from tests.workers.test_killed_worker import WORKER, board_folder, environment, submit
from workers.catalogue import sync_catalogue
from workers.heartbeat import Heartbeat

__all__ = ["board_folder", "environment"]  # fixtures

SECONDS = 10
"""Bounded loosely, as other processes may have the machine; the poll is every second."""


def children(worker: WatchedProcess) -> list[psutil.Process]:
    return [
        process
        for process in psutil.Process(worker.process.pid).children(recursive=True)
        if "serve" in process.cmdline()
    ]


def test_a_silent_worker_learns_of_it_long_before_its_lease_has_to_be_renewed(
    transactional_db: None, settings: object
) -> None:
    settings.LEASE_SECONDS, settings.HEARTBEAT_SECONDS, settings.CANCEL_POLL_SECONDS = 600, 200.0, 0.1
    run = make_run(suite=make_suite(n_tasks=1))
    assert run_next_claim(worker="w1") == run
    told = threading.Event()
    with Heartbeat(run_id=run.pk, claim=1, worker="w1", on_lost=told.set):
        assert not told.wait(0.5)
        run_cancel(run_id=run.pk, actor="somebody")
        assert told.wait(SECONDS)


@pytest.fixture
def patient(environment: dict[str, str], board_folder: Path) -> dict[str, str]:
    """A worker with leases far longer than the test, so that only the poll can tell it."""
    store = board_folder / "embeddings-of-the-cancelled"
    return environment | {"LEASE_SECONDS": "600", "CANCEL_POLL_SECONDS": "1", "EMBEDDING_STORE_DIR": str(store)}


@pytest.mark.timeout(240)
def test_a_cancelled_run_ends_its_child_within_seconds(patient: dict[str, str]) -> None:
    sync_catalogue()
    run = submit("demo/clip-tiny")
    with watched(WORKER, patient) as worker:
        worker.wait_for(f"run {run.pk}: its model is loaded", seconds=120)
        started = children(worker)
        assert started
        run_cancel(run_id=run.pk, actor="somebody")
        psutil.wait_procs(started, timeout=SECONDS)
        assert children(worker) == []
    assert Run.objects.get(pk=run.pk).state == RunState.CANCELLED
    assert not run.task_runs.exclude(lease_owner="").exists()

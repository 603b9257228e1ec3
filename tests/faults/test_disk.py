"""A model cache on a full disk: what waits for it fails cleanly, and goes through once there is room."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaderboard.models.vocabulary import RunState
from leaderboard.services.runs import run_rerun
from tests.factories import make_user
from tests.faults.boards import Board, fresh
from workers.model_cache import SPARE_BYTES


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own with a megabyte more than is left free beside models."""
    folder = tmp_path / "small-disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SPARE_BYTES + 2**20}", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.timeout(200)
def test_a_full_model_cache_fails_cleanly_and_recovers(board: Board, small_disk: Path) -> None:
    fill(small_disk / "filler")
    board.start_beat()
    board.start_worker(MODEL_CACHE_DIR=str(small_disk))
    run = board.submit("model", seconds=0)
    told = lambda: run.events.filter(reason__contains="has no room").exists()  # noqa: E731 - asked often
    board.wait_until(told, seconds=90, what="the report of a full disk")
    assert not fresh(run).is_active or fresh(run).state == RunState.QUEUED
    assert fresh(run).lease_owner == ""
    (small_disk / "filler").unlink()
    if not fresh(run).is_active:
        run = run_rerun(run_id=run.pk, actor=make_user(is_staff=True))
    board.wait_until_ended([run], seconds=90)
    board.assert_at_rest([run])


def fill(file: Path) -> None:
    """Take the room that models could have had, and some of what is to stay free."""
    with file.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, 2**21)

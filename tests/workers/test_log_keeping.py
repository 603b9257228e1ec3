"""What a child printed reaches the database without the folders and the token of the worker."""

from pathlib import Path
from typing import Any

import pytest

from leaderboard.models import ChildLog, Run
from tests.factories import make_run
from workers.log_keeping import keep_child_log

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(settings: Any, tmp_path: Path) -> Run:
    settings.DATA_DIR = tmp_path
    settings.SUITES_DIR = tmp_path / "suites"
    settings.MODEL_CACHE_DIR = tmp_path / "models"
    settings.HUB_TOKEN = "hf_a-secret-token"
    return make_run()


def test_folders_and_the_token_are_taken_out(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "run.log"
    log.parent.mkdir()
    log.write_bytes(
        f"loading {tmp_path}/models/lab/one/config.json\n{tmp_path}/suites/a/b.png \xff hf_a-secret-token\n".encode(
            "latin-1"
        )
    )
    keep_child_log(run_id=run.pk, worker="w1", path=log)
    text = ChildLog.objects.get(run=run, worker="w1").text
    assert text == "loading config.json\nb.png \N{REPLACEMENT CHARACTER} [hidden]\n"


def test_a_second_attempt_on_the_same_worker_takes_the_place_of_the_first(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    for text in ("first", "first and second"):
        log.write_text(text)
        keep_child_log(run_id=run.pk, worker="w1", path=log)
    keep_child_log(run_id=run.pk, worker="w2", path=log)
    assert list(ChildLog.objects.values_list("worker", "text")) == [
        ("w1", "first and second"), ("w2", "first and second"),
    ]  # fmt: skip


def test_a_child_that_never_started_leaves_no_log(run: Run, tmp_path: Path) -> None:
    keep_child_log(run_id=run.pk, worker="w1", path=tmp_path / "nothing.log")
    assert not ChildLog.objects.exists()


def test_a_huge_log_is_read_from_its_end(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    with log.open("wb") as file:
        file.truncate(5 * 1024**3)  # a hole: five gigabytes that take no room
        file.seek(0, 2)
        file.write(b"the last words")
    keep_child_log(run_id=run.pk, worker="w1", path=log)
    text = ChildLog.objects.get().text
    assert text.endswith("the last words")
    assert len(text) <= 64 * 1024

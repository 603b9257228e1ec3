"""A worker that is killed costs nothing but time: the run is finished by the next, with the same scores."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from evaluation.embedders.tiny import write_tiny_clip
from evaluation.suites.demo.suite import build_demo
from leaderboard.models import Run, Score, Suite
from leaderboard.models.vocabulary import RunState
from leaderboard.ports import model_hub
from leaderboard.services.runs import run_rerun
from leaderboard.services.submissions import submission_create
from tests.factories import make_user
from tests.processes import WatchedProcess, watched
from workers.catalogue import sync_catalogue
from workers.local_hub.server import running_hub

WORKER = [
    "-m",
    "celery",
    "-A",
    "workers.celery",
    "worker",
    "--pool",
    "threads",
    "--concurrency",
    "1",
    "--loglevel",
    "info",
]
BEAT = ["-m", "celery", "-A", "workers.celery", "beat", "--scheduler", "celery.beat.Scheduler"]


@pytest.fixture(scope="module")
def board_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    (folder / "suites").mkdir()
    build_demo(folder / "suites" / "medheb-demo")
    write_tiny_clip(folder / "hub" / "demo" / "clip-tiny", seed=1)
    return folder


@pytest.fixture
def environment(
    board_folder: Path, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """Settings of real workers on the test's database, broker and hub."""
    database = settings.DATABASES["default"]
    host = database["OPTIONS"].get("host") or database["HOST"]
    with running_hub(board_folder / "hub") as hub:
        monkeypatch.setattr(settings, "HUB_ENDPOINT", hub.endpoint)
        monkeypatch.setattr(settings, "SUITES_DIR", board_folder / "suites")
        yield {
            "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings",
            "DATABASE_URL": f"postgres://postgres@/{connection.settings_dict['NAME']}?host={host}",
            "REDIS_URL": settings.REDIS_URL,
            "SECRET_KEY": settings.SECRET_KEY,
            "HUB_ENDPOINT": hub.endpoint,
            "MEDBOARD_DATA_DIR": str(board_folder),
            "LEASE_SECONDS": "2",
            "REAPER_SECONDS": "0.5",
            "OMP_NUM_THREADS": "1",
        }


def submit(repo_id: str) -> Run:
    report = model_hub().preflight(repo_id=repo_id)
    assert report.passed, report.problems
    suite = Suite.objects.get(slug="medheb-demo")
    return submission_create(submitter=make_user(), report=report, suite=suite).runs.get()


def scores_of(run: Run) -> dict[tuple[str, str], tuple[float, float | None, float | None]]:
    return {
        (score.task_run.task.name, score.metric): (score.value, score.lower, score.upper)
        for score in Score.objects.filter(task_run__run=run).select_related("task_run__task")
    }


def outcomes_of(run: Run) -> dict[str, bytes]:
    return {task_run.task.name: bytes(task_run.outcomes) for task_run in run.task_runs.select_related("task")}


def wait_until_succeeded(worker: WatchedProcess, run: Run) -> None:
    worker.wait_for(f"run {run.pk}: succeeded", seconds=120)
    run.refresh_from_db()
    assert run.state == RunState.SUCCEEDED


@pytest.mark.timeout(240)
def test_a_killed_worker_leaves_the_same_scores(environment: dict[str, str]) -> None:
    sync_catalogue()
    undisturbed = submit("demo/clip-tiny")
    with watched(WORKER, environment) as worker:
        wait_until_succeeded(worker, undisturbed)

    disturbed = run_rerun(run_id=undisturbed.pk, actor=make_user(is_staff=True))
    # a store of its own, so that the model embeds again and a worker is killed while it has work
    environment |= {"EMBEDDING_STORE_DIR": f"{environment['MEDBOARD_DATA_DIR']}/embeddings-of-the-rerun"}
    with watched(BEAT, environment):
        for _ in range(2):
            with watched(WORKER, environment) as worker:
                worker.wait_for(": stored", seconds=120)
                worker.kill()
        with watched(WORKER, environment) as worker:
            wait_until_succeeded(worker, disturbed)

    assert disturbed.task_runs.filter(claims__gt=1).exists()
    assert scores_of(disturbed) == scores_of(undisturbed)
    assert outcomes_of(disturbed) == outcomes_of(undisturbed)

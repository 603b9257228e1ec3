"""A worker whose settings do not fit together does not start, and says which setting, what it is, what it must be."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.config.celery import QUEUE
from tests.processes import watched
from workers.celery import app, heard_queues
from workers.checks import Start, start_of, start_problems
from workers.placement import Gpu

GIB = 1024**3
CPU = Start(pool="threads", concurrency=1, queues=(), memory_bytes=32 * GIB, gpus=(), threads="2")
GPU = replace(CPU, gpus=(Gpu(3, "GPU-a", 23_034),))


@pytest.fixture(autouse=True)
def good(settings: Any, tmp_path: Path) -> Any:
    """Settings with which a worker starts."""
    for name in ("SUITES_DIR", "MODEL_CACHE_DIR", "EMBEDDING_STORE_DIR", "DATA_DIR"):
        setattr(settings, name, tmp_path / name.lower())
    settings.SUITES_DIR.mkdir()
    settings.LEASE_SECONDS, settings.HEARTBEAT_SECONDS, settings.REAPER_SECONDS = 60, 15.0, 60.0
    settings.CANCEL_POLL_SECONDS = 2.0
    settings.TASK_TIMEOUT_SECONDS, settings.DOWNLOAD_TIMEOUT_SECONDS = 3600, 3600
    settings.VISIBILITY_TIMEOUT_SECONDS = 7200
    settings.WORKER_DEVICE, settings.WORKER_CLASS = "cpu", "cpu"
    settings.CPU_CLASS_BYTES, settings.MODEL_CACHE_BYTES = 8 * GIB, GIB
    return settings


def a_file(folder: Path) -> Path:
    file = folder.parent / "file"
    file.write_text("")
    return file


def test_settings_that_fit_have_no_problem(good: Any) -> None:
    assert start_problems(CPU) == []
    good.WORKER_DEVICE, good.WORKER_CLASS = "cuda", "gpu-24"
    assert start_problems(GPU) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"LEASE_SECONDS": 0, "HEARTBEAT_SECONDS": -1}, "LEASE_SECONDS is 0; it must be more than 0"),
        ({"HEARTBEAT_SECONDS": 21.0}, "HEARTBEAT_SECONDS is 21; it must be at most 20, a third of LEASE_SECONDS (60)"),
        ({"HEARTBEAT_SECONDS": 0.0}, "HEARTBEAT_SECONDS is 0.0; it must be more than 0"),
        ({"REAPER_SECONDS": 0.0}, "REAPER_SECONDS is 0.0; it must be more than 0"),
        ({"CANCEL_POLL_SECONDS": 60.0}, "CANCEL_POLL_SECONDS is 60; it must be at most 10"),
        (
            {"TASK_TIMEOUT_SECONDS": 7200},
            "VISIBILITY_TIMEOUT_SECONDS is 7200; it must be more than TASK_TIMEOUT_SECONDS",
        ),
        ({"DOWNLOAD_TIMEOUT_SECONDS": 9000}, "it must be more than DOWNLOAD_TIMEOUT_SECONDS (9000)"),
        ({"WORKER_GRACE_SECONDS": -1.0}, "WORKER_GRACE_SECONDS is -1; it must be 0 or more"),
        ({"CHILD_LOG_DAYS": 0}, "CHILD_LOG_DAYS is 0; it must be at least 1"),
        ({"DELIVERY_DAYS": -1}, "DELIVERY_DAYS is -1; it must be at least 1"),
        ({"SUITES_DIR": Path("/nowhere/suites")}, "SUITES_DIR is /nowhere/suites; it must be a folder"),
        ({"MODEL_CACHE_BYTES": 0}, "MODEL_CACHE_BYTES is 0"),
        ({"WORKER_CLASS": "gpu-1"}, "WORKER_CLASS is 'gpu-1'; it must be one of cpu, gpu-16"),
        ({"WORKER_DEVICE": "cuda"}, "WORKER_DEVICE is 'cuda' and WORKER_CLASS is 'cpu'"),
        ({"WORKER_CLASS": "gpu-24"}, "WORKER_DEVICE is 'cpu' and WORKER_CLASS is 'gpu-24'"),
        ({"CPU_CLASS_BYTES": 64 * GIB}, "CPU_CLASS_BYTES is 68,719,476,736; it must be at most the memory"),
    ],
)
def test_each_setting_that_does_not_fit_is_named(good: Any, changes: dict[str, Any], words: str) -> None:
    for name, value in changes.items():
        setattr(good, name, value)
    assert any(words in problem for problem in start_problems(CPU)), start_problems(CPU)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("MODEL_CACHE_DIR", "MODEL_CACHE_DIR"),
        ("EMBEDDING_STORE_DIR", "EMBEDDING_STORE_DIR"),
        ("DATA_DIR", "MEDBOARD_DATA_DIR"),
    ],
)
def test_a_folder_that_cannot_be_made_is_named(good: Any, name: str, shown: str) -> None:
    file = a_file(good.SUITES_DIR)
    setattr(good, name, file / "below")
    assert start_problems(CPU) == [f"{shown} is {file}/below; it must be a folder in which this worker can write."]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pool": "prefork"}, "--pool is prefork; it must be threads"),
        ({"concurrency": 4}, "--concurrency is 4; it must be 1"),
        ({"threads": "many"}, "OMP_NUM_THREADS is 'many'"),
        ({"threads": "0"}, "OMP_NUM_THREADS is '0'"),
        ({"queues": ("evaluation-gpu-80",)}, "--queues is evaluation-gpu-80; it must be evaluation,evaluation-cpu"),
        ({"queues": (QUEUE,)}, "--queues is evaluation; it must be evaluation,evaluation-cpu"),
    ],
)
def test_a_command_line_that_does_not_fit_is_named(changes: dict[str, Any], words: str) -> None:
    (problem,) = start_problems(replace(CPU, **changes))
    assert words in problem


@pytest.mark.parametrize(
    ("worker_class", "gpus", "words"),
    [
        ("gpu-24", (), "lets this worker see 0 GPUs; it must name exactly one"),
        ("gpu-24", (Gpu(0, "GPU-a", 24_564), Gpu(1, "GPU-b", 24_564)), "see 2 GPUs"),
        ("gpu-80", (Gpu(1, "GPU-b", 46_068),), "GPU 1 has 46,068 MiB, so it must be 'gpu-48' or smaller"),
        ("gpu-16", (Gpu(0, "GPU-c", 8_192),), "so it must be 'cpu' or smaller"),
    ],
)
def test_a_gpu_that_does_not_fit_is_named(good: Any, worker_class: str, gpus: tuple[Gpu, ...], words: str) -> None:
    good.WORKER_DEVICE, good.WORKER_CLASS = "cuda", worker_class
    (problem,) = start_problems(replace(CPU, gpus=gpus))
    assert words in problem


def test_every_problem_is_said_at_once(good: Any) -> None:
    good.HEARTBEAT_SECONDS, good.WORKER_CLASS = 100.0, "large"
    assert len(start_problems(replace(CPU, pool="solo", concurrency=2))) == 4


def test_a_worker_hears_what_its_class_can_hold() -> None:
    assert heard_queues("gpu-24") == ["evaluation", "evaluation-cpu", "evaluation-gpu-16", "evaluation-gpu-24"]


def test_a_bell_goes_to_one_queue_alone() -> None:
    for queue in app.conf.task_queues:
        assert (queue.exchange.name, queue.routing_key) == (queue.name, queue.name)


def test_bells_are_acknowledged_late_and_taken_one_at_a_time(good: Any) -> None:
    assert app.conf.task_acks_late is True
    assert app.conf.worker_prefetch_multiplier == 1
    assert app.conf.broker_transport_options["visibility_timeout"] > good.TASK_TIMEOUT_SECONDS


def test_the_start_is_read_from_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from celery.concurrency import get_implementation

    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    start = start_of({"pool": get_implementation("threads"), "concurrency": 1, "queues": "a,b"})
    assert (start.pool, start.concurrency, start.queues, start.threads) == ("threads", 1, ("a", "b"), "3")
    assert start_of({"pool": get_implementation("prefork"), "concurrency": None}).pool == "prefork"


def test_a_real_worker_with_a_bad_setting_ends_and_says_why(good: Any, tmp_path: Path) -> None:
    environment = {
        "DJANGO_SETTINGS_MODULE": "leaderboard.config.settings",
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "SECRET_KEY": "x",
        "MEDBOARD_DATA_DIR": str(tmp_path),
        "SUITES_DIR": str(good.SUITES_DIR),
        "CPU_CLASS_BYTES": "1",
        "LEASE_SECONDS": "10",
        "HEARTBEAT_SECONDS": "5",
    }
    command = ["-m", "celery", "-A", "workers.celery", "worker", "--pool", "threads", "--concurrency", "1"]
    with watched(command, environment) as worker:
        worker.wait_for("This worker does not start:", seconds=60)
        line = worker.wait_for("HEARTBEAT_SECONDS", seconds=60)
        assert worker.process.wait() == 1
    assert line == "- HEARTBEAT_SECONDS is 5; it must be at most 3.33333, a third of LEASE_SECONDS (10).\n"

"""What must fit together before a worker may start. Each problem names the setting, what it is, and what it must be."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celery.concurrency import get_available_pool_names, get_implementation
from django.conf import settings

from leaderboard.models.vocabulary import WorkerClass
from workers.celery import app, heard_queues
from workers.machine import memory_of_this_machine
from workers.placement import Gpu, class_of_gpu, find_gpus, visible_gpus
from workers.sandbox.protocol import SandboxUnavailable
from workers.sealing import worker_sandbox

POOL = "threads"
LEASE_BEATS = 3
"""A lease outlives so many heartbeats, so that one that comes late loses nothing."""
LONGEST_CANCEL_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Start:
    """How a worker is started and on what: its pool, its queues (none given: its class's) and its machine."""

    pool: str
    concurrency: int
    queues: tuple[str, ...]
    memory_bytes: int
    gpus: tuple[Gpu, ...]
    threads: str | None


def start_of(options: Mapping[str, Any]) -> Start:
    """The start that Celery's command line asks for, on this machine."""
    queues = options.get("queues") or ()
    return Start(
        pool=_pool_name(options.get("pool") or app.conf.worker_pool),
        concurrency=int(options.get("concurrency") or app.conf.worker_concurrency or os.cpu_count() or 1),
        queues=tuple(queues.split(",")) if isinstance(queues, str) else tuple(queues),
        memory_bytes=memory_of_this_machine(),
        gpus=visible_gpus(find_gpus(), os.environ.get("CUDA_VISIBLE_DEVICES")) if _is_gpu_class() else (),
        threads=os.environ.get("OMP_NUM_THREADS"),
    )


def _pool_name(pool: Any) -> str:
    """The name of a pool, which the command line gives as its class."""
    return next((name for name in get_available_pool_names() if get_implementation(name) is pool), str(pool))


def start_problems(start: Start) -> list[str]:
    """Everything that is wrong with a worker's settings, folders, sandbox and command line; empty when it may start."""
    return [
        *_time_problems(),
        *_folder_problems(),
        *_sandbox_problems(),
        *_class_problems(start),
        *_process_problems(start),
    ]


def _is_gpu_class() -> bool:
    return settings.WORKER_CLASS in WorkerClass.values and settings.WORKER_CLASS != WorkerClass.CPU


def _time_problems() -> Iterator[str]:
    for name in ("LEASE_SECONDS", "HEARTBEAT_SECONDS", "REAPER_SECONDS", "CANCEL_POLL_SECONDS", "TASK_TIMEOUT_SECONDS"):
        if getattr(settings, name) <= 0:
            yield f"{name} is {getattr(settings, name)}; it must be more than 0."
    if settings.WORKER_GRACE_SECONDS < 0:
        yield f"WORKER_GRACE_SECONDS is {settings.WORKER_GRACE_SECONDS:g}; it must be 0 or more."
    for name in ("CHILD_LOG_DAYS", "DELIVERY_DAYS"):
        if getattr(settings, name) < 1:
            yield f"{name} is {getattr(settings, name)}; it must be at least 1."
    most = settings.LEASE_SECONDS / LEASE_BEATS
    if most < settings.HEARTBEAT_SECONDS:
        yield (
            f"HEARTBEAT_SECONDS is {settings.HEARTBEAT_SECONDS:g}; it must be at most {most:g}, a third of"
            f" LEASE_SECONDS ({settings.LEASE_SECONDS})."
        )
    if settings.CANCEL_POLL_SECONDS > LONGEST_CANCEL_SECONDS:
        yield (
            f"CANCEL_POLL_SECONDS is {settings.CANCEL_POLL_SECONDS:g}; it must be at most {LONGEST_CANCEL_SECONDS}, so"
            " that a cancelled run ends within seconds."
        )
    for name in ("TASK_TIMEOUT_SECONDS", "DOWNLOAD_TIMEOUT_SECONDS"):
        if getattr(settings, name) >= settings.VISIBILITY_TIMEOUT_SECONDS:
            yield (
                f"VISIBILITY_TIMEOUT_SECONDS is {settings.VISIBILITY_TIMEOUT_SECONDS}; it must be more than {name}"
                f" ({getattr(settings, name)}), or bells are heard twice."
            )


def _folder_problems() -> Iterator[str]:
    folder = settings.SUITES_DIR
    if not (folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)):
        yield f"SUITES_DIR is {folder}; it must be a folder that this worker can read."
    for name, needed in (
        ("MODEL_CACHE_DIR", settings.MODEL_CACHE_DIR),
        ("EMBEDDING_STORE_DIR", settings.EMBEDDING_STORE_DIR),
        ("MEDBOARD_DATA_DIR", settings.DATA_DIR),
    ):
        if not _can_be_written(needed):
            yield f"{name} is {needed}; it must be a folder in which this worker can write."
    if settings.MODEL_CACHE_BYTES <= 0:
        yield f"MODEL_CACHE_BYTES is {settings.MODEL_CACHE_BYTES}; it must be the bytes that models may take."


def _can_be_written(folder: Path) -> bool:
    """Whether it is, or can be made, a folder to write in."""
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _sandbox_problems() -> Iterator[str]:
    try:
        worker_sandbox()
    except SandboxUnavailable as error:
        yield str(error)


def _class_problems(start: Start) -> Iterator[str]:
    name, device = settings.WORKER_CLASS, settings.WORKER_DEVICE
    if name not in WorkerClass.values:
        yield f"WORKER_CLASS is {name!r}; it must be one of {', '.join(WorkerClass.values)}."
        return
    is_gpu = name != WorkerClass.CPU
    if is_gpu != device.startswith("cuda"):
        wanted = "cuda" if is_gpu else "cpu"
        yield f"WORKER_DEVICE is {device!r} and WORKER_CLASS is {name!r}; a worker of this class needs {wanted!r}."
    elif is_gpu:
        yield from _gpu_problems(WorkerClass(name), start.gpus)
    elif start.memory_bytes < settings.CPU_CLASS_BYTES:
        yield (
            f"CPU_CLASS_BYTES is {settings.CPU_CLASS_BYTES:,}; it must be at most the memory of this machine,"
            f" {start.memory_bytes:,}, here and on the site."
        )


def _gpu_problems(worker_class: WorkerClass, gpus: tuple[Gpu, ...]) -> Iterator[str]:
    if len(gpus) != 1:
        yield (
            f"CUDA_VISIBLE_DEVICES lets this worker see {len(gpus)} GPUs; it must name exactly one, as each GPU has a"
            " process of its own."
        )
        return
    (gpu,) = gpus
    found = class_of_gpu(gpu)
    if found is None or found.gpu_gib < worker_class.gpu_gib:
        yield (
            f"WORKER_CLASS is {worker_class.value!r}; GPU {gpu.index} has {gpu.memory_mib:,} MiB, so it must be"
            f" {found.value if found else 'cpu'!r} or smaller."
        )


def _process_problems(start: Start) -> Iterator[str]:
    if start.pool != POOL:
        yield f"--pool is {start.pool}; it must be {POOL}: a forked process can't use a GPU."
    if start.concurrency != 1:
        yield f"--concurrency is {start.concurrency}; it must be 1: a device has one process."
    if start.threads is not None and not (start.threads.isdecimal() and int(start.threads) > 0):
        yield f"OMP_NUM_THREADS is {start.threads!r}; it must be a number of threads, or not be set."
    yield from _queue_problems(start.queues)
    if not app.conf.task_acks_late or app.conf.worker_prefetch_multiplier != 1:
        yield "task_acks_late and worker_prefetch_multiplier must be true and 1, or a lost worker loses bells."


def _queue_problems(queues: Iterable[str]) -> Iterator[str]:
    needed = heard_queues(settings.WORKER_CLASS)
    given = set(queues)
    if given and given != set(needed):
        yield (
            f"--queues is {','.join(sorted(given))}; it must be {','.join(needed)} for class"
            f" {settings.WORKER_CLASS}, or not be given."
        )

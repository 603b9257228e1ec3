"""What the evaluating child gets to see: the model, the suite, this interpreter, its own store, and a device."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from workers.machine import memory_of_this_machine
from workers.sandbox.places import (
    accelerator_devices,
    accelerator_places,
    linked_places,
    present_devices,
    python_places,
    python_program,
)
from workers.sandbox.protocol import Enclosure, Limits

BASE_DIR = Path(__file__).resolve().parent.parent
PASSED_ON = (
    "LANG",
    "LC_ALL",
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "CUDA_VISIBLE_DEVICES",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)
# Large blocks are kept and used again: asking the kernel for them anew costs up to half of a network's time on a CPU.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}
_DEFAULT_SHARE_OF_MEMORY = 0.8
_ROOM_FOR_ANOTHER_FILE = 1 << 30
_LINK_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a child is to evaluate, and where its vectors go.

    `encode_config` is the name of one of the model's family, or "" for its default.
    """

    model: Path
    adapter: Path | None
    encode_config: str
    suite: Path
    device: str
    store: Path
    store_bytes: int


def evaluating_enclosure(evaluation: Evaluation, limits: Limits) -> Enclosure:
    """The enclosure of `python -m evaluation serve` for an evaluation."""
    seen = [evaluation.model, evaluation.suite, *([evaluation.adapter] if evaluation.adapter else [])]
    return Enclosure(
        command=serve_command(evaluation),
        environment=child_environment(),
        read_only=(
            *python_places(),
            *accelerator_places(evaluation.device),
            BASE_DIR / "evaluation",
            *seen,
            *(target for folder in seen for target in linked_places(folder, depth=_LINK_DEPTH)),
        ),
        writable=evaluation.store,
        devices=accelerator_devices(evaluation.device, present_devices()),
        limits=limits,
    )


def serve_command(evaluation: Evaluation) -> tuple[str, ...]:
    """The command of the child that evaluates."""
    command = [python_program(), "-m", "evaluation", "serve", "--model", str(evaluation.model.resolve())]
    command += ["--suite", str(evaluation.suite.resolve()), "--device", evaluation.device]
    command += ["--store", str(evaluation.store.resolve()), "--store-bytes", str(evaluation.store_bytes)]
    if evaluation.encode_config:
        command += ["--encode-config", evaluation.encode_config]
    if evaluation.adapter:
        command += ["--adapter", str(evaluation.adapter.resolve())]
    return tuple(command)


def child_environment() -> Mapping[str, str]:
    """What the child needs and nothing else: no server's address, no token."""
    return {
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        **MALLOC,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(BASE_DIR),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HOME": "/nonexistent",
        "USER": "sealed",
    }


def child_limits(*, store_bytes: int, n_tasks: int) -> Limits:
    """The limits that the settings give a child, for so many tasks."""
    return Limits(
        memory_bytes=settings.CHILD_MEMORY_BYTES or int(_DEFAULT_SHARE_OF_MEMORY * memory_of_this_machine()),
        processes=settings.CHILD_PROCESSES,
        tmp_bytes=settings.CHILD_TMP_BYTES,
        file_bytes=store_bytes + _ROOM_FOR_ANOTHER_FILE,
        cpu_seconds=settings.TASK_TIMEOUT_SECONDS * max(1, n_tasks) * (os.cpu_count() or 1),
    )

"""One worker process for each GPU, each seeing its own alone; one for the CPU on a machine without any."""

import csv
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.models.vocabulary import WorkerClass

MIB_PER_GIB = 1024
SOLD_SHARE = 0.93
"""GPUs report a little less memory than they are sold with: one of 24 GiB reports 22.5."""
_QUERY = ["nvidia-smi", "--query-gpu=index,uuid,memory.total", "--format=csv,noheader,nounits"]


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU of this machine; `memory_mib` is all that it has."""

    index: int
    uuid: str
    memory_mib: int


def find_gpus() -> tuple[Gpu, ...]:
    """The machine's NVIDIA GPUs; none where their tool is not installed or finds no driver."""
    try:
        found = subprocess.run(_QUERY, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_gpus(found.stdout)


def parse_gpus(table: str) -> tuple[Gpu, ...]:
    """The GPUs of a table of index, UUID and MiB of memory, separated by commas."""
    rows = csv.reader(table.splitlines(), skipinitialspace=True)
    return tuple(Gpu(int(index), uuid, int(memory)) for index, uuid, memory in rows)


def class_of_gpu(gpu: Gpu) -> WorkerClass | None:
    """The largest class that a GPU is; None when it has less memory than the smallest asks for."""
    held = [
        worker_class
        for worker_class in WorkerClass
        if worker_class is not WorkerClass.CPU and gpu.memory_mib >= worker_class.gpu_gib * MIB_PER_GIB * SOLD_SHARE
    ]
    return held[-1] if held else None


def visible_gpus(gpus: Sequence[Gpu], visible: str | None) -> tuple[Gpu, ...]:
    """Those of the GPUs that CUDA_VISIBLE_DEVICES lets a process see: None all, "" none, else indices or UUIDs.

    As CUDA does, the list ends at the first name that no GPU has.
    """
    if visible is None:
        return tuple(gpus)
    seen: list[Gpu] = []
    for name in (part.strip() for part in visible.split(",")):
        gpu = next((gpu for gpu in gpus if name and (name == str(gpu.index) or gpu.uuid.startswith(name))), None)
        if gpu is None:
            break
        seen.append(gpu)
    return tuple(seen)


def worker_environments(gpus: Sequence[Gpu], environment: Mapping[str, str]) -> list[dict[str, str]]:
    """What each worker process of this machine gets beside the environment, which decides where it names a device."""
    if "WORKER_DEVICE" in environment or "WORKER_CLASS" in environment:
        return [{}]
    usable = [(gpu, class_of_gpu(gpu)) for gpu in visible_gpus(gpus, environment.get("CUDA_VISIBLE_DEVICES"))]
    found = [
        {"CUDA_VISIBLE_DEVICES": gpu.uuid, "WORKER_DEVICE": "cuda", "WORKER_CLASS": worker_class.value}
        for gpu, worker_class in usable
        if worker_class is not None
    ]
    return found or [{"WORKER_DEVICE": "cpu", "WORKER_CLASS": WorkerClass.CPU.value}]

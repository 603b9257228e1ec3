"""How large a worker a model needs, and roughly how long it takes there: from its parameters and its number type."""

from django.conf import settings

from leaderboard.exceptions import PreflightFailed
from leaderboard.models.vocabulary import WorkerClass

GIB = 1024**3
BYTES_OF = {"float32": 4, "bfloat16": 2, "float16": 2}
CPU_DTYPE = "float32"

WEIGHT_FACTOR = 1.25
"""Weights, an adapter beside them, and buffers."""
CPU_HEADROOM = 2 * GIB
GPU_HEADROOM = 3 * GIB
"""The libraries and the activations of the largest single input: larger batches are halved where they do not fit."""
GPU_USABLE = 0.9
"""Of the memory that a GPU is sold with, what is left beside the driver's."""

START_SECONDS = 60.0
"""Download, checks and loading."""
PARAMETERS_PER_SECOND = {"cpu": 2e9, "gpu": 1e11}
"""Parameters that one input passes in a second; rough, and corrected by past timings where they are shown."""


def memory_needed(*, parameters: int, gpu_dtype: str, worker_class: WorkerClass) -> float:
    """Bytes that a model needs: `parameters` x bytes of its number type x 1.25, and headroom for one input."""
    if worker_class is WorkerClass.CPU:
        return parameters * BYTES_OF[CPU_DTYPE] * WEIGHT_FACTOR + CPU_HEADROOM
    return parameters * BYTES_OF[gpu_dtype] * WEIGHT_FACTOR + GPU_HEADROOM


def memory_usable(worker_class: WorkerClass) -> float:
    """Bytes that a model can have on every worker of a class."""
    if worker_class is WorkerClass.CPU:
        return float(settings.CPU_CLASS_BYTES)
    return worker_class.gpu_gib * GIB * GPU_USABLE


def smallest_class(*, parameters: int | None, gpu_dtype: str) -> WorkerClass:
    """The smallest class of workers that holds a model; on the CPU all weights are float32.

    Args:
        parameters: of the model; None, while they are unknown, asks for the smallest class, and a lack of memory then
            moves the run up.
        gpu_dtype: the number type of the model's encode config on a GPU.

    Raises:
        PreflightFailed: no class holds it.
    """
    needed = 0.0
    for worker_class in WorkerClass:
        needed = memory_needed(parameters=parameters or 0, gpu_dtype=gpu_dtype, worker_class=worker_class)
        if needed <= memory_usable(worker_class):
            return worker_class
    raise PreflightFailed(
        f"This model needs about {needed / GIB:,.0f} GiB of memory and the largest class of workers has"
        f" {max(worker_class.gpu_gib for worker_class in WorkerClass)}. Submit a smaller variant."
    )


def expected_seconds(*, parameters: int | None, n_queries: int, worker_class: str) -> float:
    """Roughly how long a run takes: starting, and one pass of the model for every query."""
    kind = "cpu" if worker_class == WorkerClass.CPU else "gpu"
    return START_SECONDS + n_queries * (parameters or 0) / PARAMETERS_PER_SECOND[kind]

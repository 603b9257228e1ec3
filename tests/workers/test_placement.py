"""One process for each GPU. Memories are those that the tool reports for these GPUs."""

import pytest

from leaderboard.models.vocabulary import WorkerClass
from workers.placement import Gpu, class_of_gpu, parse_gpus, visible_gpus, worker_environments

TABLE = "0, GPU-1b2c, 81559\n1, GPU-9f8e, 23034\n2, GPU-9f00, 8192\n"
GPUS = parse_gpus(TABLE)


def test_the_tools_table_is_read() -> None:
    assert (Gpu(0, "GPU-1b2c", 81_559), Gpu(1, "GPU-9f8e", 23_034), Gpu(2, "GPU-9f00", 8_192)) == GPUS
    assert parse_gpus("") == ()


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        (15_360, "gpu-16"),  # T4
        (23_034, "gpu-24"),  # L4
        (46_068, "gpu-48"),  # L40S
        (81_559, "gpu-80"),  # H100
        (143_771, "gpu-141"),  # H200
        (11_264, None),
    ],
)
def test_a_gpu_is_of_the_class_that_it_is_sold_as(memory: int, expected: str | None) -> None:
    assert class_of_gpu(Gpu(0, "GPU-x", memory)) == (expected and WorkerClass(expected))


@pytest.mark.parametrize(
    ("visible", "indices"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("1,0", [1, 0]),
        ("GPU-9f8e", [1]),
        ("0,7,1", [0]),
        ("-1", []),
    ],
)
def test_only_visible_gpus_count(visible: str | None, indices: list[int]) -> None:
    assert [gpu.index for gpu in visible_gpus(GPUS, visible)] == indices


def test_each_gpu_that_is_large_enough_has_a_process_that_sees_it_alone() -> None:
    assert worker_environments(GPUS, {}) == [
        {"CUDA_VISIBLE_DEVICES": "GPU-1b2c", "WORKER_DEVICE": "cuda", "WORKER_CLASS": "gpu-80"},
        {"CUDA_VISIBLE_DEVICES": "GPU-9f8e", "WORKER_DEVICE": "cuda", "WORKER_CLASS": "gpu-24"},
    ]


def test_without_a_gpu_there_is_one_process_for_the_cpu() -> None:
    assert worker_environments((), {}) == [{"WORKER_DEVICE": "cpu", "WORKER_CLASS": "cpu"}]
    assert worker_environments(GPUS, {"CUDA_VISIBLE_DEVICES": "2"}) == [{"WORKER_DEVICE": "cpu", "WORKER_CLASS": "cpu"}]


def test_a_device_that_is_named_is_kept() -> None:
    assert worker_environments(GPUS, {"WORKER_DEVICE": "cpu"}) == [{}]

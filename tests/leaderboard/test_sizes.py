"""Which class of workers a model needs. Bytes are worked out by hand from the documented formula."""

import pytest

from leaderboard.exceptions import PreflightFailed
from leaderboard.models.vocabulary import WorkerClass, classes_above, classes_within
from leaderboard.services.sizes import expected_seconds, smallest_class

GIB = 1024**3


@pytest.mark.parametrize(
    ("billions", "dtype", "expected"),
    [
        # float32 on a CPU of 8 GiB: 1.28 x 4 x 1.25 = 6.4e9 bytes = 5.96 GiB, and 2 GiB of headroom: 7.96
        (1.28, "bfloat16", "cpu"),
        (1.30, "bfloat16", "gpu-16"),
        # bfloat16: 4.8 x 2 x 1.25 = 12e9 = 11.18 GiB, and 3: 14.18 of the 14.4 that a GPU of 16 GiB gives
        (4.8, "bfloat16", "gpu-16"),
        (5.0, "bfloat16", "gpu-24"),
        (7.9, "bfloat16", "gpu-24"),
        (8.0, "float32", "gpu-48"),
        (32.0, "bfloat16", "gpu-141"),
        (25.0, "bfloat16", "gpu-80"),
    ],
)
def test_the_smallest_class_that_holds_a_model(settings: object, billions: float, dtype: str, expected: str) -> None:
    settings.CPU_CLASS_BYTES = 8 * GIB
    assert smallest_class(parameters=round(billions * 1e9), gpu_dtype=dtype) == expected


def test_a_cpu_with_much_memory_holds_what_would_need_a_gpu(settings: object) -> None:
    settings.CPU_CLASS_BYTES = 64 * GIB
    assert smallest_class(parameters=8_000_000_000, gpu_dtype="bfloat16") == WorkerClass.CPU


def test_a_model_that_nobody_holds_is_refused() -> None:
    with pytest.raises(PreflightFailed, match="needs about 166 GiB"):
        smallest_class(parameters=70_000_000_000, gpu_dtype="bfloat16")


def test_classes_are_in_the_order_of_what_they_hold() -> None:
    assert classes_within("gpu-24") == ["cpu", "gpu-16", "gpu-24"]
    assert classes_above("gpu-48") == ["gpu-80", "gpu-141"]
    assert [worker_class.gpu_gib for worker_class in WorkerClass] == [0, 16, 24, 48, 80, 141]


def test_expected_seconds_are_a_start_and_a_pass_a_query() -> None:
    # 60 + 1,000 queries x 2e9 parameters / 2e9 a second; on a GPU / 1e11 a second
    assert expected_seconds(parameters=2_000_000_000, n_queries=1000, worker_class="cpu") == pytest.approx(1060)
    assert expected_seconds(parameters=2_000_000_000, n_queries=1000, worker_class="gpu-24") == pytest.approx(80)

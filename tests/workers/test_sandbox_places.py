"""Which files and devices are shown inside, and how a command line says so."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workers.sandboxes import hostile_order
from workers.enclosures import Evaluation, child_limits, evaluating_enclosure
from workers.sandbox.bubblewrap import Bubblewrap
from workers.sandbox.choice import SANDBOXES
from workers.sandbox.places import accelerator_devices, accelerator_places, linked_places, outermost, system_places

DEV = Path("/dev")
NVIDIA = [DEV / name for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "nvidia-caps")]


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("cpu", ()),
        ("cuda", ("nvidia-caps", "nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl")),
        ("cuda:1", ("nvidia-caps", "nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl")),
    ],
)
def test_a_gpu_gets_the_devices_of_its_kind_and_a_cpu_none(device: str, expected: tuple[str, ...]) -> None:
    present = [*NVIDIA, DEV / "sda", DEV / "mem", DEV / "kmsg"]
    assert accelerator_devices(device, present) == tuple(DEV / name for name in expected)


def test_a_gpus_driver_may_look_at_the_hardware(tmp_path: Path) -> None:
    (tmp_path / "sys" / "bus").mkdir(parents=True)
    (tmp_path / "sys" / "kernel").mkdir()
    assert accelerator_places("cuda:0", tmp_path) == [tmp_path / "sys" / "bus"]
    assert accelerator_places("cpu", tmp_path) == []


def test_devices_are_among_what_bubblewrap_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    enclosure = hostile_order(tmp_path, SANDBOXES["none"](), "hang", {}).enclosure
    command = Bubblewrap().command(replace(enclosure, devices=(DEV / "nvidia0",)))
    at = command.index("--dev-bind")
    assert command[at : at + 3] == ["--dev-bind", "/dev/nvidia0", "/dev/nvidia0"]
    assert "--dev-bind" not in Bubblewrap().command(enclosure)


def test_what_lies_in_another_place_is_shown_with_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert outermost([tmp_path / "a" / "b", tmp_path / "link", tmp_path / "a"]) == [tmp_path / "a"]


def test_links_of_the_system_stay_links(tmp_path: Path) -> None:
    for name in ("usr/lib", "bin", "etc"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "lib").symlink_to("usr/lib")
    for name in ("shadow", "passwd", "hosts", "ld.so.cache"):
        (tmp_path / "etc" / name).touch()
    folders, links = system_places(tmp_path)
    assert folders == [tmp_path / "bin", tmp_path / "usr", tmp_path / "etc" / "ld.so.cache"]
    assert links == [("usr/lib", tmp_path / "lib")]


def test_links_that_lead_out_of_a_folder_are_followed_and_others_are_not(tmp_path: Path) -> None:
    suite, images, weights = tmp_path / "suite", tmp_path / "images", tmp_path / "weights"
    (suite / "images").mkdir(parents=True)
    images.mkdir()
    weights.touch()
    (suite / "images" / "chest").symlink_to(images)
    (suite / "images" / "same").symlink_to(suite / "images")
    (suite / "images" / "nowhere").symlink_to(tmp_path / "missing")
    (suite / "weights").symlink_to(weights)
    assert linked_places(suite, depth=2) == [images, weights]
    assert linked_places(suite, depth=1) == [weights]
    assert linked_places(tmp_path / "missing", depth=1) == []


def test_an_evaluation_sees_its_own_and_gets_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "HUB_TOKEN", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY")
    for name in secrets:
        monkeypatch.setenv(name, "canary")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name in ("model", "other", "adapter", "suite", "store"):
        (tmp_path / name).mkdir()
    evaluation = Evaluation(
        model=tmp_path / "model", adapter=tmp_path / "adapter", encode_config="default", suite=tmp_path / "suite",
        device="cpu", store=tmp_path / "store", store_bytes=7,
    )  # fmt: skip
    enclosure = evaluating_enclosure(evaluation, child_limits(store_bytes=7, n_tasks=1))
    seen = set(enclosure.read_only)
    assert {tmp_path / name for name in ("model", "adapter", "suite")} <= seen
    assert tmp_path not in seen
    assert tmp_path / "other" not in seen
    assert enclosure.writable == tmp_path / "store"
    assert "canary" not in {*enclosure.environment.values(), *enclosure.command}
    assert enclosure.environment["OMP_NUM_THREADS"] == "1"
    project = Path(__file__).resolve().parents[2]
    assert {path for path in seen if path.is_relative_to(project) and not path.is_relative_to(project / ".venv")} == {
        project / "evaluation"
    }


def test_limits_follow_settings_and_machine(settings) -> None:
    settings.CHILD_MEMORY_BYTES, settings.CHILD_PROCESSES, settings.CHILD_TMP_BYTES = 5, 6, 7
    settings.TASK_TIMEOUT_SECONDS = 10
    limits = child_limits(store_bytes=100, n_tasks=3)
    assert (limits.memory_bytes, limits.processes, limits.tmp_bytes) == (5, 6, 7)
    assert limits.cpu_seconds == 30 * os.cpu_count()
    assert limits.file_bytes > 100
    settings.CHILD_MEMORY_BYTES = 0
    assert 1 << 30 < child_limits(store_bytes=1, n_tasks=1).memory_bytes < 1 << 50

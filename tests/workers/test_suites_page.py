"""The commands of docs/suites.md do what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.inputs import MAX_IMAGE_PIXELS, MAX_VOLUME_SLICES, MAX_VOLUME_VOXELS
from evaluation.suites.archive_members import ArchiveLimits
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.readiness import NAMED_PROBLEMS
from evaluation.suites.medheb.records import MAX_TEXT_CHARACTERS
from tests.evaluation import miniature_release
from tests.processes import BASE_DIR
from workers.local_hub.server import running_hub

PAGE = (BASE_DIR / "docs" / "suites.md").read_text(encoding="utf-8")


@pytest.fixture
def small_release(hub_root: Path) -> Path:
    """A release that holds the two tasks of which the page speaks."""
    release = hub_root / "datasets/MEDHEB/MedHEB-Bench"
    for spec in medheb_suite().tasks:
        if spec.name in ("PubMedQA", "BloodMNIST_cls"):
            path = release / spec.data_path
            path.parent.mkdir(parents=True)
            path.write_text(str(miniature_release.records_of(release / spec.image_root, spec)).replace("'", '"'))
    return hub_root


def test_every_command_of_the_page_runs(small_release: Path, tmp_path: Path) -> None:
    commands = [line for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    assert len(commands) == 5
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    with running_hub(small_release) as hub:
        settings = {"HUB_ENDPOINT": hub.endpoint, "SUITES_DIR": str(tmp_path / "suites")}
        outputs = [
            subprocess.run(
                [sys.executable, *command.split()[1:]],
                cwd=BASE_DIR,
                env=kept | settings,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
            for command in commands
        ]
    assert "of 107 tasks 2 ready, 105 not installed." in outputs[0]
    assert "of 2 tasks 2 ready." in outputs[1]
    assert "of 107 tasks 2 ready, 105 not installed." in outputs[4]


def test_the_limits_on_the_page_are_those_of_the_program() -> None:
    limits = ArchiveLimits()
    assert (limits.files, limits.total_bytes, limits.ratio, limits.free_bytes) == (10**6, 2 * 2**40, 100, 256 * 2**20)
    assert (MAX_TEXT_CHARACTERS, MAX_IMAGE_PIXELS, MAX_VOLUME_SLICES) == (1_000_000, 64_000_000, 64)
    assert (MAX_VOLUME_VOXELS, NAMED_PROBLEMS) == (512 * 512 * 2048, 5)

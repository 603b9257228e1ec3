"""docs/adding-a-model-family.md, adding-a-suite.md and adding-a-page.md are followed in a copy of the repository: the files
that they show are written, the changes are made and the commands run, in the order in which they stand."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from documentation.hooks import ROOT

COPIED = ("evaluation", "leaderboard", "workers", "templates", "static", "tests", "pyproject.toml", "manage.py")
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, so that nothing of the how-tos stays."""
    copy = tmp_path_factory.mktemp("followed")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    return copy


def follow(page: str, repository: Path) -> list[str]:
    """What each command printed."""
    outputs = []
    for language, title, content in BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8")):
        if language == "console":
            outputs += [run(line, repository) for line in content.splitlines()]
        elif language == "diff":
            change(repository / title, content)
        else:
            (repository / title).parent.mkdir(parents=True, exist_ok=True)
            (repository / title).write_text(content, encoding="utf-8")
    return outputs


def change(path: Path, difference: str) -> None:
    """Make a change that is shown as a difference: lines that stay, go and come; what stays and goes occurs once."""
    lines = difference.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path.name} has {text.count(before)} times:\n{before}"
    path.write_text(text.replace(before, after), encoding="utf-8")


def run(command: str, folder: Path) -> str:
    program, *words = shlex.split(command)
    assert program == "python"
    database = re.sub(r"/[^/?]*(\?|$)", r"/how_to\1", os.environ["DATABASE_URL"], count=1)
    options = f"-p no:cacheprovider --basetemp={folder / 'tmp'}"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_ADDOPTS": options, "DATABASE_URL": database}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_a_model_family_is_added(repository: Path) -> None:
    tested, _, _, ran = follow("adding-a-model-family.md", repository)
    assert "2 passed" in tested
    assert "2 tasks scored, 22 failed" in ran


def test_a_suite_and_a_task_are_added(repository: Path) -> None:
    listed, ran, listed_again, ran_again = follow("adding-a-suite.md", repository)
    assert "Ward_QA" in listed
    assert "1 tasks scored, 0 failed" in ran
    assert "Ward_Terms" in listed_again
    assert "2 tasks scored, 0 failed" in ran_again


def test_a_page_is_added(repository: Path) -> None:
    (tested,) = follow("adding-a-page.md", repository)
    assert "1 passed" in tested

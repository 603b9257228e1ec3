"""The commands of README.md run, in the order in which they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import BASE_DIR

README = (BASE_DIR / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]
EVALUATION = [command for command in COMMANDS if command.startswith("python -m evaluation ")]


def run(command: str, folder: Path) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "OMP_WAIT_POLICY") if name in os.environ}
    done = subprocess.run(
        [sys.executable, *command.split()[1:]],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(BASE_DIR)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def test_the_commands_without_data_run(tmp_path: Path) -> None:
    commands = [command for command in EVALUATION if "mini" not in command]
    assert len(commands) == 7
    outputs = [run(command, tmp_path) for command in commands]
    assert "24 tasks" in outputs[0]
    assert "| lite-dual" in outputs[5]


@pytest.mark.real_data
def test_the_commands_with_data_run(tmp_path: Path, real_data: Path) -> None:
    (tmp_path / "DATA").symlink_to(real_data)
    commands = [command for command in EVALUATION if "mini" in command]
    assert len(commands) == 2
    for command in commands:
        run(command, tmp_path)
    assert (tmp_path / "minilm.json").exists()


def test_every_other_command_is_one_of_the_two_that_do_all_the_set_up() -> None:
    assert [command for command in COMMANDS if command not in EVALUATION] == ["make run", "make test"]


def test_every_file_that_a_document_links_to_is_there() -> None:
    for page in (*BASE_DIR.glob("*.md"), *BASE_DIR.glob("docs/*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_variable_that_the_code_reads_is_in_the_example() -> None:
    example = (BASE_DIR / ".env.example").read_text(encoding="utf-8")
    read = set()
    for path in [*BASE_DIR.glob("leaderboard/**/*.py"), *BASE_DIR.glob("workers/**/*.py")]:
        text = path.read_text(encoding="utf-8")
        read |= set(re.findall(r"env\.\w+\(\s*\"(\w+)\"", text))
        read |= set(re.findall(r"environ\.get\(\s*\"(MEDBOARD_\w+|SECRET_KEY|HUB_\w+|DATABASE_URL|REDIS_URL)\"", text))
    missing = sorted(name for name in read if not re.search(rf"^#?{name}=", example, re.MULTILINE))
    assert missing == []

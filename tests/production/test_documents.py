"""What the pages for deployers name is there: commands, variables, metrics, files and services."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands
from django.test import Client

from leaderboard.config.variable_table import VARIABLES
from tests.processes import BASE_DIR

PAGES = [BASE_DIR / "docs" / name for name in ("deployment.md", "operations.md", "migrations.md")]
COMPOSE_NAME = re.compile(r"-f (\S+)")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def commands_of(page: Path) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", text_of(page), flags=re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_manage_py_and_files_exist(page: Path) -> None:
    known = get_commands()
    for name in re.findall(r"manage\.py (\w+)", text_of(page)):
        assert name in known, name
    for path in re.findall(r"`((?:docker|tests|benchmarks|workers|leaderboard|docs)/[\w./]+\w)`", text_of(page)):
        assert (BASE_DIR / path).exists() or path.startswith("docker/secrets"), path
    for target in re.findall(r"\]\(([\w./-]+)\)", text_of(page)):
        assert (page.parent / target).is_file(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_variables_that_are_named_exist(page: Path) -> None:
    known = {variable.name for variable in VARIABLES} | {f"{v.name}_FILE" for v in VARIABLES if v.secret}
    compose = "".join(
        (BASE_DIR / name).read_text() for name in ("compose.yml", "compose.gpu.yml", "compose.workers.yml")
    )
    for name in re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", text_of(page)):
        assert name in known, name
    for line in commands_of(page):
        for word in shlex.split(line):
            name, sign, _ = word.partition("=")
            if sign and name.isupper():
                assert name in known or f"${{{name}:" in compose or name == "PGOPTIONS", name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_services_and_profiles_of_compose_commands_exist(page: Path) -> None:
    for line in commands_of(page):
        if "docker compose" not in line:
            continue
        files = COMPOSE_NAME.findall(line) or ["compose.yml"]
        services = {
            name: one
            for file in files
            for name, one in yaml.safe_load((BASE_DIR / file).read_text())["services"].items()
        }
        words = shlex.split(line)
        profiles = {words[place + 1] for place, word in enumerate(words) if word == "--profile"}
        assert profiles <= {profile for one in services.values() for profile in one.get("profiles", [])}
        for verb in ("run", "exec", "restart"):
            if verb in words:
                named = [word for word in words[words.index(verb) + 1 :] if word in services]
                assert named, line


def test_metrics_that_are_named_exist(client: Client, db: None, settings: object) -> None:
    settings.METRICS_TOKEN = "a-token"
    found = client.get("/metrics", headers={"Authorization": "Bearer a-token"}).content.decode()
    declared = {name.removesuffix("_total") for name in re.findall(r"^# TYPE (\w+)", found, flags=re.MULTILINE)}
    named = {name.removesuffix("_total") for page in PAGES for name in re.findall(r"medboard_\w+", text_of(page))}
    assert named
    assert named <= declared

"""Settings: one table, everything wrong said at once, secrets from files, and pages made from the table."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.config import settings_pages
from leaderboard.config.variable_table import VARIABLES, read_environment
from leaderboard.config.variables import SettingsInvalid
from tests.processes import BASE_DIR

ENOUGH = {
    "DATABASE_URL": "postgres://board:pass%20word@db:5433/medboard?sslmode=require",
    "REDIS_URL": "rediss://:secret@broker:6380/1",
    "SECRET_KEY": "0123456789" * 5,
}
PRODUCTION = {**ENOUGH, "BEHIND_TLS": "true", "SITE_URL": "https://board.example/", "ALLOWED_HOSTS": "board.example"}


def problems(environment: dict[str, str]) -> list[str]:
    with pytest.raises(SettingsInvalid) as caught:
        read_environment(environment)
    assert caught.value.code == "settings_invalid"
    return list(caught.value.problems)


def test_values_have_the_types_of_the_table_and_defaults_follow_from_what_is_set() -> None:
    values = read_environment(
        {**ENOUGH, "LEASE_SECONDS": "20", "DEBUG": "Yes", "ALLOWED_HOSTS": "a.example, b.example"}
    )
    database = values["DATABASE_URL"]
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db", 5433, "medboard")
    assert (database["USER"], database["PASSWORD"]) == ("board", "pass word")
    assert database["OPTIONS"] == {"sslmode": "require"}
    assert (values["LEASE_SECONDS"], values["HEARTBEAT_SECONDS"]) == (20, 5.0)
    assert (values["TASK_TIMEOUT_SECONDS"], values["VISIBILITY_TIMEOUT_SECONDS"]) == (21600, 43200)
    assert values["DEBUG"] is True
    assert values["ALLOWED_HOSTS"] == ["a.example", "b.example"]
    assert values["SUITES_DIR"] == BASE_DIR / ".data" / "suites"
    assert values["EMAIL_URL"]["EMAIL_BACKEND"].endswith("console.EmailBackend")


def test_every_problem_is_told_at_once_by_its_variable_and_no_secret_is_shown() -> None:
    found = problems(
        {
            "DATABASE_URL": "mysql://user:hidden@db/board",
            "SECRET_KEY": "",
            "BEHIND_TLS": "perhaps",
            "LEASE_SECONDS": "a minute",
            "HUB_TOKEN_FILE": "/does/not/exist",
            "LOG_FORMAT": "xml",
            "SUBMISSIONS_PER_DAY": "-1",
            "SITE_URL": "board.example",
        }
    )
    named = [re.match(r"[A-Z_]+", problem).group() for problem in found]
    expected = "DATABASE_URL REDIS_URL SECRET_KEY BEHIND_TLS SITE_URL HUB_TOKEN_FILE LEASE_SECONDS SUBMISSIONS_PER_DAY"
    assert named == [*expected.split(), "LOG_FORMAT"]
    assert "hidden" not in "".join(found)
    assert "'a minute' cannot be used; it must be a whole number." in found[6]


def test_a_public_site_refuses_what_is_weak() -> None:
    assert read_environment(PRODUCTION)["SITE_URL"] == "https://board.example"
    weak = {"SECRET_KEY": "short", "DEBUG": "on", "ALLOWED_HOSTS": "*", "SITE_URL": "http://board.example"}
    found = problems(PRODUCTION | weak)
    assert [problem.split()[0] for problem in found] == ["SECRET_KEY", "DEBUG", "ALLOWED_HOSTS", "SITE_URL"]
    assert read_environment(ENOUGH | {"SECRET_KEY": "short"})["SECRET_KEY"] == "short", "not on a developer's machine"


def test_a_secret_comes_from_a_file_and_never_from_two_places(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("a token\n")
    assert read_environment({**ENOUGH, "HUB_TOKEN_FILE": str(file)})["HUB_TOKEN"] == "a token"
    assert "both set" in problems({**ENOUGH, "HUB_TOKEN_FILE": str(file), "HUB_TOKEN": "another"})[0]
    file.write_text("\n")
    assert "is empty" in problems({**ENOUGH, "HUB_TOKEN_FILE": str(file)})[0]


@pytest.mark.parametrize("command", [["manage.py", "check"], ["-m", "celery", "-A", "workers.celery", "worker"]])
def test_a_process_with_bad_settings_ends_with_status_2_and_starts_no_server(
    command: list[str], tmp_path: Path
) -> None:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    own = {"BEHIND_TLS": "true", "LEASE_SECONDS": "soon", "MEDBOARD_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, *command],
        check=False,
        cwd=BASE_DIR,
        env=kept | own,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, done.stderr
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "LEASE_SECONDS"):
        assert f"- {name}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_the_pages_are_made_from_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert settings_pages.main(["--check"]) == 0, capsys.readouterr().err
    for variable in VARIABLES:
        assert f"#{variable.name}=" in settings_pages.env_example()
        assert f"| `{variable.name}` |" in settings_pages.settings_page()


def test_the_table_has_exactly_what_the_code_reads() -> None:
    names = {variable.name for variable in VARIABLES}
    assert len(names) == len(VARIABLES)
    in_settings = set(re.findall(r'\bvalue\["(\w+)"\]', (BASE_DIR / "leaderboard/config/settings.py").read_text()))
    ahead = {"MEDBOARD_PORT"}  # other defaults follow from it
    assert in_settings == {variable.name for variable in VARIABLES if variable.in_settings} - ahead
    read = {name for file in source_files() for name in environment_names(file)}
    elsewhere = {variable.name for variable in VARIABLES if not variable.in_settings}
    assert elsewhere <= read, "listed and read by nobody"
    told = {"HF_ENDPOINT", "HF_TOKEN"}  # other names of HUB_ENDPOINT and HUB_TOKEN, told in docs/suites.md
    own = {
        "DJANGO_SETTINGS_MODULE",
        "FAULTS_CLOCK_FILE",
        "KILLED_AFTER",
        "PATH",
        "HOME",
        "WORLD_SIZE",
    }  # set by the project, or by the system
    assert read - names - told - own == set(), "read and not listed"


def source_files() -> list[Path]:
    folders = ("leaderboard", "workers", "evaluation", "tests")
    return [BASE_DIR / "manage.py", *(file for folder in folders for file in (BASE_DIR / folder).rglob("*.py"))]


def environment_names(file: Path) -> set[str]:
    """The names that a file reads from `os.environ`, as literals."""
    names = set()
    text = file.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if "environ" in text else ():
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and is_environ(node.value):
            names.add(node.slice)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_environ(node.func.value):
            if node.func.attr == "get":
                names.add(node.args[0])
        elif isinstance(node, ast.Compare) and any(is_environ(one) for one in node.comparators):
            names.add(node.left)
    return {name.value for name in names if isinstance(name, ast.Constant) and str(name.value).isupper()}


def is_environ(node: ast.expr) -> bool:
    return ast.unparse(node) in {"os.environ", "environment"}

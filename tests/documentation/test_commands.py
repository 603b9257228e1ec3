"""Every command of every document is one that the programs take, and runs: here, in the test of its page, or not, for a
reason that is named."""

import re
import shlex
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class
from typer.testing import CliRunner

from documentation.hooks import DOCUMENTS, ROOT
from evaluation.__main__ import app

RUN_BY = {
    "README.md": "tests/workers/test_readme.py",
    "docs/suites.md": "tests/workers/test_suites_page.py",
    "docs/medtec-probes.md": "tests/evaluation/medtec/test_probe_commands.py",
    "docs/adding-a-model-family.md": "tests/documentation/test_how_to.py",
    "docs/adding-a-suite.md": "tests/documentation/test_how_to.py",
    "docs/deployment.md": "tests/production/test_documents.py",
    "docs/operations.md": "tests/production/test_documents.py",
    "docs/migrations.md": "tests/production/test_documents.py",
    "docs/adding-a-page.md": "tests/documentation/test_how_to.py",
}
"""Pages whose commands a test of their own runs."""

WHY_NOT_RUN = {
    r"\bDATA\b|--suite mini\b|\bmedtec-mini\b|-probing\.json": "needs-data: its steps run in the tests that have the data",
    r"\baccelerate\b|\bcuda\b": "needs-gpu",
    r"\bdemo-suite\b": "run by the test of README.md, or, where it trains longer, by the tests of training",
    r"\bindex_gallery\b": "needs the panel's worker: run by the panel's test in a browser",
    r"^make\b": "sets everything up: it is how these tests are run",
}
"""Patterns of commands of other pages that are not run, with the reason."""

OTHER_PROGRAMS = frozenset(
    {
        "accelerate",
        "cat",
        "cp",
        "createdb",
        "curl",
        "docker",
        "export",
        "git",
        "gunicorn",
        "ls",
        "mkdir",
        "openssl",
        "pg_dump",
    }
    | {"pg_restore", "psql", "rclone", "systemctl"}
)
"""Programs of others whose command line is not checked."""

_BLOCK = re.compile(r"^```(?:console|bash|sh)\b[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*=.*")


@dataclass(frozen=True)
class Command:
    page: str
    text: str

    @property
    def words(self) -> list[str]:
        words = shlex.split(self.text, comments=True)
        while words and _VARIABLE.fullmatch(words[0]):
            words.pop(0)
        return [words[0].removeprefix(".venv/bin/"), *words[1:]] if words else []

    def __str__(self) -> str:
        return f"{self.page}: {self.text}"


def commands_of(page: str) -> list[Command]:
    text = (ROOT / page).read_text(encoding="utf-8")
    joined = "\n".join(_BLOCK.findall(text)).replace("\\\n", " ")
    found = [Command(page, line.strip().removeprefix("$ ")) for line in joined.splitlines()]
    return [command for command in found if command.words]


PAGES = sorted({*DOCUMENTS, *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))})
COMMANDS = [command for page in PAGES for command in commands_of(page)]
HERE = [
    command
    for command in COMMANDS
    if command.page not in RUN_BY and not any(re.search(pattern, command.text) for pattern in WHY_NOT_RUN)
]


def problem_with(command: Command) -> str:
    """What the program that a command names says against it; empty if nothing."""
    match command.words:
        case ["python", "-m", "evaluation", *words]:
            return said_of(words)
        case ["accelerate", "launch", *words] if "evaluation" in words:
            return said_of(words[words.index("evaluation") + 1 :])
        case ["python", "manage.py", name, *words]:
            return said_of_management(name, words)
        case ["make", *words]:
            made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
            return ", ".join(sorted({word for word in words if "=" not in word} - made))
    return "" if is_there(command.words) else f"{command.text} names something that is not there"


def is_there(words: list[str]) -> bool:
    match words:
        case ["python", "-m", module, *_]:
            return find_spec(module) is not None
        case ["python", "-c", code]:
            return compile(code, "command", "exec") is not None
        case ["celery", "-A", module, *_]:
            return find_spec(module) is not None
        case ["python", program, *_] | [program, *_]:
            places = (ROOT / program, ROOT / ".venv/bin" / program)
            return program in OTHER_PROGRAMS or any(place.is_file() for place in places)
    return False


def said_of(words: list[str]) -> str:
    # --help is looked at after the names of commands and options, and before their values.
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*words, "--help"])
    return "" if result.exit_code == 0 else result.output


def said_of_management(name: str, words: list[str]) -> str:
    if name not in get_commands():
        return f"manage.py has no command {name}"
    package = get_commands()[name]
    command = load_command_class(package, name) if isinstance(package, str) else package
    try:
        command.create_parser("manage.py", name).parse_args(words)
    except CommandError:
        return f"{name} does not take {words}"
    return ""


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_the_program_takes_the_command(command: Command) -> None:
    assert problem_with(command) == ""


@pytest.mark.parametrize(
    "text",
    [
        "python -m evaluation runs --model chance",
        "python -m evaluation run --modell chance",
        "python -m evaluation suites instal medheb",
        "python -m evaluations",
        "python manage.py delete_everything",
        "python manage.py delete_old_records --everything",
        "make everything",
        "evrything --now",
    ],
)
def test_a_command_that_does_not_exist_is_found(text: str) -> None:
    assert problem_with(Command("page", text)) != ""


def test_the_tests_that_run_pages_are_there() -> None:
    assert [name for name in RUN_BY.values() if not (ROOT / name).is_file()] == []


@pytest.mark.django_db(transaction=True)
def test_the_other_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert HERE
    monkeypatch.chdir(tmp_path)
    for command in HERE:
        match command.words:
            case ["python", "-m", "evaluation", *words]:
                result = CliRunner(env={"COLUMNS": "200"}).invoke(app, words)
                assert result.exit_code == 0, f"{command}\n{result.output}"
            case ["python", "-c", code]:
                exec(compile(code, str(command), "exec"), {})  # noqa: S102 - a command of our own documents
            case ["python", "manage.py", name, *words]:
                call_command(name, *words)
            case _:
                pytest.fail(f"{command}: name the reason why it is not run, or the test that runs it")

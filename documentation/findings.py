"""The page of every code that a check, a run or the site answers with, from the code and `findings.yaml`."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from documentation.hooks import ROOT

PACKAGES = ("evaluation", "leaderboard", "workers")
REMEDIES = Path(__file__).with_name("findings.yaml")

_LEFT_OUT = ("leaderboard/api", "leaderboard/migrations")
"""The API's own refusals stand in its page."""
_HEAD = """# What a check finds

Everything that keeps a model from being evaluated has a code, which does not change, and a message that names the
file, record or field. Pages show the message; the API and webhooks give both.
"""
_KEYWORDS = frozenset({"code", "error_code"})


@dataclass(frozen=True, slots=True)
class Code:
    """A code that the program can answer with. `meaning` is the docstring of its class, or empty."""

    name: str
    meaning: str


def codes_in_code(root: Path = ROOT) -> dict[str, Code]:
    """Every code by name: classes with an attribute `code`, and calls that are given one."""
    found: dict[str, Code] = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if path.relative_to(root).as_posix().startswith(_LEFT_OUT):
                continue
            for code in _codes_of_module(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(code.name, code)
    return found


def findings_page() -> str:
    """The page as Markdown.

    Raises:
        KeyError: a code has neither a class whose docstring explains it nor an entry `means`.
    """
    codes = codes_in_code()
    parts = [_HEAD]
    parts += [_section(group, codes) for group in read_remedies().values()]
    return "\n".join(parts)


def read_remedies() -> dict[str, Any]:
    """The groups of `findings.yaml`, in their order."""
    groups: dict[str, Any] = yaml.safe_load(REMEDIES.read_text(encoding="utf-8"))
    return groups


def _section(group: Mapping[str, Any], codes: Mapping[str, Code]) -> str:
    rows = [
        f"| `{name}` | {entry.get('means') or codes[name].meaning} | {entry['do']} |"
        for name, entry in group["codes"].items()
    ]
    head = ["| Code | What it means | What to do |", "|---|---|---|"]
    return "\n".join([f"## {group['title']}", "", group["lead"], "", *head, *rows, ""])


def _codes_of_module(module: ast.Module) -> Iterator[Code]:
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef):
            yield from _codes_of_class(node)
        elif isinstance(node, ast.keyword) and node.arg in _KEYWORDS and _text(node.value):
            yield Code(_text(node.value), "")


def _codes_of_class(node: ast.ClassDef) -> Iterator[Code]:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and [_name(target) for target in statement.targets] == ["code"]:
            summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
            yield Code(_text(statement.value), " ".join(summary.split()))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

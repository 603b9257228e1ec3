"""`python -m leaderboard.config.settings_pages`: write `.env.example` and docs/settings.md from the table of settings.

With `--check` nothing is written: the exit status is 1 if one of them is not up to date.
"""

import sys
import textwrap
from pathlib import Path
from typing import Any

from leaderboard.config.variable_table import BASE_DIR, SECTIONS
from leaderboard.config.variables import FILE_SUFFIX, Derived, Required, Variable

WIDTH = 118

_PAGE_TOP = """# Settings

Everything is set by variables of the environment. This page and `.env.example` are made from
`leaderboard/config/variable_table.py` by `make settings-pages`.

- An empty value counts as none.
- A secret can lie in a file: `SECRET_KEY_FILE=/run/secrets/secret_key` in the place of `SECRET_KEY`, and so on for each
  variable that is marked as secret. The file holds nothing but the value; both at once are refused.
- Site and workers read all of them when they start. If anything is missing, cannot be read or does not fit together,
  every problem is printed and the process ends with status 2. A worker also checks its machine (`workers/checks.py`).
- `python manage.py check --deploy` says what else a public site should have.
"""
_EXAMPLE_TOP = """# Every variable that the project reads, with its default; `make run` needs none of them. Made by `make settings-pages`.
# A secret can lie in a file instead: NAME_FILE names it. docs/settings.md says the same as a table.
"""


def main(arguments: list[str]) -> int:
    """Write both files, or say which is not up to date."""
    pages = {BASE_DIR / ".env.example": env_example(), BASE_DIR / "docs" / "settings.md": settings_page()}
    if "--check" not in arguments:
        for file, text in pages.items():
            file.write_text(text, encoding="utf-8")
        return 0
    old = [file for file, text in pages.items() if not _is(file, text)]
    for file in old:
        sys.stderr.write(f"{file.relative_to(BASE_DIR)} is not up to date: run `make settings-pages`.\n")
    return 1 if old else 0


def env_example() -> str:
    """The text of `.env.example`: each variable behind a comment sign, with its default."""
    blocks = []
    for section in SECTIONS:
        lines = textwrap.wrap(f"--- {section.title}", WIDTH, initial_indent="# ", subsequent_indent="# ")
        for variable in section.variables:
            lines += textwrap.wrap(_sentence(variable), WIDTH, initial_indent="# ", subsequent_indent="# ")
            lines.append(f"#{variable.name}={_plain_default(variable)}")
        blocks.append("\n".join(lines))
    return "\n\n".join([_EXAMPLE_TOP.rstrip(), *blocks]) + "\n"


def settings_page() -> str:
    """The text of docs/settings.md: a table a section."""
    parts = [_PAGE_TOP]
    for section in SECTIONS:
        rows = [_row(variable) for variable in section.variables]
        head = "| variable | type | default | meaning | read by |\n|---|---|---|---|---|"
        parts.append("\n".join([f"## {section.title[0].upper()}{section.title[1:]}", "", head, *rows]) + "\n")
    return "\n".join(parts)


def _row(variable: Variable) -> str:
    default = "required" if variable.default is Required else _plain_default(variable)
    shown = f"`{default}`" if default and variable.default is not Required else default or "none"
    kind = f"{variable.kind.name}; secret" if variable.secret else variable.kind.name
    return f"| `{variable.name}` | {kind} | {shown} | {variable.meaning} | {', '.join(variable.read_by)} |"


def _sentence(variable: Variable) -> str:
    return f"{variable.meaning} (or {variable.name}{FILE_SUFFIX})" if variable.secret else variable.meaning


def _plain_default(variable: Variable) -> str:
    """The default as it would be written into the environment; empty for none."""
    default: Any = variable.default
    if default is Required:
        return ""
    if isinstance(default, Derived):
        return default.words
    if isinstance(default, bool):
        return str(default).lower()
    return (
        ",".join(default)
        if isinstance(default, list)
        else f"{default:g}"
        if isinstance(default, float)
        else str(default)
    )


def _is(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""What a setting from the environment is, and how all of them are read at once.

`variable_table` lists them. A secret can also come from a file: `NAME_FILE` names one that holds nothing but the value.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

FILE_SUFFIX = "_FILE"
EXIT_STATUS = 2


class Reader(StrEnum):
    """Who reads a variable."""

    SITE = "site"
    WORKERS = "workers"
    RUN = "make run"
    PANEL = "panel"
    TESTS = "tests"


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of value. `parse` turns text into it and raises ValueError with what the text must be."""

    name: str
    parse: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Derived:
    """A default that follows from variables further up; `words` tell how, as the documentation prints it."""

    words: str
    value: Callable[[Mapping[str, Any]], Any]


class Required:
    """Instead of a default: there is none, and the project does not start without a value."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable of the environment.

    `default` is a value of the kind, `Derived`, or `Required`. `in_settings` is false for what other programs than the
    Django settings read; it is listed, and not parsed.
    """

    name: str
    kind: Kind
    default: Any
    meaning: str
    read_by: tuple[Reader, ...] = (Reader.SITE, Reader.WORKERS)
    secret: bool = False
    in_settings: bool = True


@dataclass(frozen=True, slots=True)
class Section:
    """Variables that belong together."""

    title: str
    variables: tuple[Variable, ...]


class SettingsInvalid(Exception):
    """Variables are missing, cannot be read or do not fit together. `problems` has a sentence for each."""

    code = "settings_invalid"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def is_given(name: str, environment: Mapping[str, str]) -> bool:
    """Whether a variable, or the file of a secret, is named. An empty value counts as none."""
    return bool(environment.get(name) or environment.get(name + FILE_SUFFIX))


def read_variables(
    variables: Sequence[Variable],
    environment: Mapping[str, str],
    *,
    combined: Callable[[Mapping[str, Any]], Iterator[str]],
) -> dict[str, Any]:
    """The values of all variables by name. `combined` says what does not fit together once each is readable.

    Raises:
        SettingsInvalid: with every problem, not only the first.
    """
    values: dict[str, Any] = {}
    problems: list[str] = []
    for variable in variables:
        if not variable.in_settings:
            continue
        try:
            values[variable.name] = _read(variable, environment, values)
        except SettingsInvalid as error:
            problems += error.problems
        except KeyError:  # a default that follows from what could not be read itself: that is told already
            continue
    if not problems:
        problems = list(combined(values))
    if problems:
        raise SettingsInvalid(problems)
    return values


def _read(variable: Variable, environment: Mapping[str, str], values: Mapping[str, Any]) -> Any:
    text = _text(variable, environment)
    if text:
        try:
            return variable.kind.parse(text)
        except ValueError as error:
            shown = "its value" if variable.secret else f"{text!r}"
            raise SettingsInvalid([f"{variable.name}: {shown} cannot be used; it must be {error}."]) from error
    if variable.default is Required:
        where = (
            f"{variable.name}, or a file's name in {variable.name}{FILE_SUFFIX}" if variable.secret else variable.name
        )
        raise SettingsInvalid([f"{variable.name} is not set: give a value ({variable.kind.name}) in {where}."])
    return variable.default.value(values) if isinstance(variable.default, Derived) else variable.default


def _text(variable: Variable, environment: Mapping[str, str]) -> str:
    text, file = environment.get(variable.name, ""), environment.get(variable.name + FILE_SUFFIX, "")
    if not variable.secret or not file:
        return text
    if text:
        raise SettingsInvalid([f"{variable.name} and {variable.name}{FILE_SUFFIX} are both set: keep one of them."])
    try:
        found = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid([f"{variable.name}{FILE_SUFFIX} names {file}, which cannot be read: {error}."]) from error
    if not found:
        raise SettingsInvalid([f"{variable.name}{FILE_SUFFIX} names {file}, which is empty: write the value into it."])
    return found


def values_or_end(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The values, or the end of the process: every problem on standard error, and exit status 2."""
    try:
        return read()
    except SettingsInvalid as error:
        lines = "\n".join(f"- {problem}" for problem in error.problems)
        sys.stderr.write(f"MedBoard does not start, because of its settings (docs/settings.md):\n{lines}\n")
        raise SystemExit(EXIT_STATUS) from error

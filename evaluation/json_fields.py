"""Checks of JSON values that people may have written by hand: every refusal names the file and the field."""

import json
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from evaluation.errors import SuiteInvalid

_Value = TypeVar("_Value")
_Member = TypeVar("_Member", bound=StrEnum)


def read_json(path: Path) -> Any:
    """Read a JSON file of a suite.

    Raises:
        SuiteInvalid: the file is missing, is not UTF-8, is not JSON, or an object of it has a key twice.
    """
    try:
        return json.loads(
            path.read_bytes().decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_without_twins
        )
    except OSError as error:
        raise SuiteInvalid(f"{path} cannot be read: {error.strerror}. Install the suite again.") from error
    except UnicodeDecodeError as error:
        raise SuiteInvalid(f"{path} is not UTF-8 at byte {error.start}. Save it as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise SuiteInvalid(f"{path} is not JSON: {error}. Correct or replace the file.") from error


def json_object(value: Any, keys: tuple[str, ...], *, where: str) -> dict[str, Any]:
    """An object with exactly these keys.

    Raises:
        SuiteInvalid: it is no object, or a key is unknown or missing.
    """
    if not isinstance(value, dict):
        raise SuiteInvalid(f"{where}: a JSON object is expected, not {type(value).__name__}.")
    unknown = sorted(set(value) - set(keys))
    missing = sorted(set(keys) - set(value))
    if unknown or missing:
        problems = [f"unknown key {key!r}" for key in unknown] + [f"missing key {key!r}" for key in missing]
        raise SuiteInvalid(f"{where}: {', '.join(problems)}.")
    return value


def typed(value: Any, kind: type[_Value], *, where: str) -> _Value:
    """A value of one type.

    Raises:
        SuiteInvalid: it has another type.
    """
    if not isinstance(value, kind):
        raise SuiteInvalid(f"{where}: {kind.__name__} is expected, not {type(value).__name__}.")
    return value


def filled(value: Any, *, where: str) -> str:
    """A text with more than spaces in it.

    Raises:
        SuiteInvalid: it is no text or empty.
    """
    text = typed(value, str, where=where)
    if not text.strip():
        raise SuiteInvalid(f"{where}: the text is empty.")
    return text


def member(words: type[_Member], value: Any, *, where: str) -> _Member:
    """A member of a closed list, given by its value.

    Raises:
        SuiteInvalid: the list does not have it.
    """
    try:
        return words(value)
    except ValueError as error:
        raise SuiteInvalid(f"{where}: {value!r} is none of {', '.join(words)}.") from error


def relative_path(value: Any, *, where: str) -> str:
    """A path that stays inside the suite's folder; it may be empty.

    Raises:
        SuiteInvalid: it is no text, absolute, or climbs out of the folder.
    """
    text = typed(value, str, where=where)
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or "\0" in text:
        raise SuiteInvalid(f"{where}: {text!r} must be a path inside the suite's folder, without '..'.")
    return text


def require_distinct(names: Iterable[str], *, where: str) -> None:
    """Refuse two tasks of one name.

    Raises:
        SuiteInvalid: two names are equal.
    """
    seen = set()
    for name in names:
        if name in seen:
            raise SuiteInvalid(f"{where}: two tasks are called {name!r}.")
        seen.add(name)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [key for key, _ in pairs]
        twin = next(key for key in names if names.count(key) > 1)
        raise ValueError(f"the key {twin[:80]!r} stands twice in one object")
    return fields

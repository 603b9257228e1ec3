"""YAML files whose shape is checked: a wrong type, an unknown, missing or repeated key, or an empty text is an error.

Every function takes `where`, the file and place that its message names.
"""

from collections.abc import Hashable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import yaml

from evaluation.errors import SuiteInvalid

Word = TypeVar("Word", bound=StrEnum)


class _Loader(yaml.CSafeLoader):
    """Plain values only, and no key twice in one mapping."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 (the base class's signature)
        fields = super().construct_mapping(node, deep=deep)
        if len(fields) != len(node.value):
            raise yaml.constructor.ConstructorError(None, None, "a key stands twice in this mapping", node.start_mark)
        return fields


def read_yaml(path: Path) -> Any:
    """The one document of a YAML file.

    Raises:
        SuiteInvalid: the file is missing, is not UTF-8, is not plain YAML, or repeats a key.
    """
    try:
        text = path.read_bytes().decode("utf-8")
        return yaml.load(text, Loader=_Loader)  # noqa: S506 (_Loader is a safe loader)
    except OSError as error:
        raise SuiteInvalid(f"{path} cannot be read: {error.strerror}. Restore the file.") from error
    except UnicodeDecodeError as error:
        raise SuiteInvalid(f"{path} is not UTF-8 at byte {error.start}. Save it as UTF-8.") from error
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise SuiteInvalid(f"{path} is not plain YAML: {reason}. Correct or replace the file.") from error


def record(value: Any, keys: tuple[str, ...], *, where: str) -> Mapping[str, Any]:
    """A mapping with exactly these keys."""
    if not isinstance(value, dict):
        raise SuiteInvalid(f"{where}: a mapping is expected, not {type(value).__name__}.")
    problems = [f"unknown key {key!r}" for key in value if key not in keys]
    problems += [f"missing key {str(key)!r}" for key in keys if key not in value]
    if problems:
        raise SuiteInvalid(f"{where}: {', '.join(problems)}.")
    return value


def listed(value: Any, *, where: str) -> list[Any]:
    """A list, which may be empty."""
    if not isinstance(value, list):
        raise SuiteInvalid(f"{where}: a list is expected, not {type(value).__name__}.")
    return value


def filled(value: Any, *, where: str) -> str:
    """A text on one line that is not empty and has no space at its ends."""
    if not isinstance(value, str):
        raise SuiteInvalid(f"{where}: a text is expected, not {type(value).__name__}.")
    if not value.strip():
        raise SuiteInvalid(f"{where}: the text is empty.")
    if value != " ".join(value.split()):
        raise SuiteInvalid(f"{where}: {value!r} has a line break, a double space, or a space at an end.")
    return value


def texts(value: Any, *, where: str) -> tuple[str, ...]:
    """A list of filled texts."""
    return tuple(
        filled(item, where=f"{where}: item {number}") for number, item in enumerate(listed(value, where=where))
    )


def flag(value: Any, *, where: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise SuiteInvalid(f"{where}: true or false is expected, not {value!r}.")
    return value


def member(words: type[Word], value: Any, *, where: str) -> Word:
    """A word of a closed list."""
    try:
        return words(value)
    except ValueError as error:
        raise SuiteInvalid(f"{where}: {value!r} is none of {', '.join(words)}.") from error

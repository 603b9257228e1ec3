"""YAML files of plain values, and the checks of texts that stand in them."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from evaluation.errors import SuiteInvalid
from evaluation.json_fields import filled, typed


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


def listed(value: Any, *, where: str) -> list[Any]:
    """A list, which may be empty."""
    items: list[Any] = typed(value, list, where=where)
    return items


def trimmed(value: Any, *, where: str) -> str:
    """A text on one line that is not empty and has no space at its ends."""
    text = filled(value, where=where)
    if text != " ".join(text.split()):
        raise SuiteInvalid(f"{where}: {text!r} has a line break, a double space, or a space at an end.")
    return text


def texts(value: Any, *, where: str) -> tuple[str, ...]:
    """A list of trimmed texts."""
    return tuple(
        trimmed(item, where=f"{where}: item {number}") for number, item in enumerate(listed(value, where=where))
    )

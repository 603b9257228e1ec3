"""The rules of `repository` applied to a folder on this machine, before any weight is read. Headers of weight files are."""

from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from evaluation.embedders.safety.chat_templates import text_problems
from evaluation.embedders.safety.declared_sizes import size_problems
from evaluation.embedders.safety.repository import (
    CONFIG_NAMES,
    INDEX_NAME,
    PROBLEM_KINDS,
    Problem,
    adapter_problems,
    document_problems,
    folder_file_names,
    index_problems,
    read_json,
    read_modules,
    read_object,
    safety_problems,
)
from evaluation.embedders.safety.weight_headers import read_header, total
from evaluation.errors import EvaluationError, LinkOutside, ModelInvalid, ModelUnsafe

_CONFIG = "config.json"
_ADAPTER_CONFIG = "adapter_config.json"


def check_folder_safety(folder: Path) -> None:
    """Refuse a model folder that could run code of its own, needs pickled weights, or would take the machine down.

    Raises:
        ModelUnsafe, ModelUnsupported, ModelInvalid: with all problems in one message, of the gravest kind found.
    """
    names = folder_file_names(folder)
    _refuse_links(folder)
    config = read_object(folder / _CONFIG) if _CONFIG in names else {}
    modules = read_modules(folder)
    problems = safety_problems(config, names, modules)
    problems += _document_problems(folder, names, checked=_CONFIG)
    problems += _weight_problems(folder, names, _CONFIG, config)
    _raise_problems(folder, problems)


def check_adapter_safety(folder: Path) -> None:
    """Refuse an adapter folder as `check_folder_safety` refuses a model folder.

    Raises:
        ModelUnsafe, ModelUnsupported, ModelInvalid: with all problems in one message, of the gravest kind found.
    """
    names = folder_file_names(folder)
    _refuse_links(folder)
    if _ADAPTER_CONFIG not in names:
        raise ModelInvalid(f"{folder.name} has no {_ADAPTER_CONFIG}, so it is not an adapter.")
    config = read_object(folder / _ADAPTER_CONFIG)
    problems = adapter_problems(config, names)
    problems += _document_problems(folder, names, checked=_ADAPTER_CONFIG)
    problems += _weight_problems(folder, names, _ADAPTER_CONFIG, config)
    _raise_problems(folder, problems)


def _refuse_links(folder: Path) -> None:
    """Refuse links that lead out of the folder, other than to the files of the download cache that it stands in.

    The cache keeps a commit's files in `snapshots/COMMIT` as links to `blobs` beside `snapshots`.
    """
    allowed = [folder.resolve()]
    if folder.parent.name == "snapshots":
        allowed.append((folder.parent.parent / "blobs").resolve())
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() and not any(path.resolve().is_relative_to(root) for root in allowed):
            name = path.relative_to(folder).as_posix()
            raise LinkOutside(
                f"{folder.name}: {name} is a link to what lies outside of the folder; put the file there."
            )


def _document_problems(folder: Path, names: Collection[str], *, checked: str) -> list[Problem]:
    problems = []
    for name in sorted(names):
        path = PurePosixPath(name)
        if path.name in CONFIG_NAMES and name != checked:
            problems += document_problems(name, read_json(folder / name))
        elif path.name == INDEX_NAME:
            problems += index_problems(name, read_json(folder / name), names)
        elif path.suffix == ".jinja":
            problems += text_problems(name, _read_text(folder / name))
    return problems


def _weight_problems(folder: Path, names: Collection[str], config_name: str, config: dict[str, Any]) -> list[Problem]:
    """What the headers of all weight files say against them, and against the configuration."""
    problems, headers = [], []
    for name in sorted(name for name in names if name.endswith(".safetensors")):
        try:
            headers.append(read_header(folder / name, name=name))
        except (ModelInvalid, ModelUnsafe) as error:
            problems.append((error.code, error.message))
    if headers and not problems:
        problems += size_problems(config_name, config, total(headers))
    return problems


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ModelInvalid(f"{path.name} in {path.parent.name} cannot be read: {error}.") from error


def _raise_problems(folder: Path, problems: Sequence[Problem]) -> None:
    """Raise the gravest kind among `problems`, with the distinct messages of all; nothing where there are none."""
    codes = {code for code, _ in problems}
    message = f"{folder.name}: " + " ".join(dict.fromkeys(message for _, message in problems))
    kinds: tuple[type[EvaluationError], ...] = PROBLEM_KINDS
    for kind in kinds:
        if kind.code in codes:
            raise kind(message)

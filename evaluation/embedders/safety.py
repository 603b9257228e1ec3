"""Rules that keep a model folder from running code of its own. No file of weights is opened here.

The functions on parsed documents and file names serve a check before anything is downloaded; `check_folder_safety`
applies them to a folder.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from evaluation.errors import ModelInvalid, ModelUnsafe, ModelUnsupported

Problem = tuple[str, str]

PICKLE_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".h5", ".joblib"})
CONFIG_NAMES = frozenset(
    {
        "config.json",
        "tokenizer_config.json",
        "preprocessor_config.json",
        "video_preprocessor_config.json",
        "processor_config.json",
        "generation_config.json",
        "adapter_config.json",
        "sentence_bert_config.json",
        "config_sentence_transformers.json",
    }
)
_CODE_KEYS = frozenset({"auto_map", "auto_mapping", "custom_pipelines", "custom_generate"})
_ATTENTION_KEYS = frozenset({"attn_implementation", "_attn_implementation"})
_ATTENTION_VALUES = frozenset({None, "eager", "sdpa", "flash_attention_2"})
_AUTOSET_KEY = "_attn_implementation_autoset"
_WEIGHTLESS_TYPES = ("medboard-chance",)  # not a set: a stranger's model type may be a list, which has no hash
_MODULE_PACKAGE = "sentence_transformers."
_MAX_JSON_BYTES = 10_000_000


def document_problems(name: str, document: Any) -> list[Problem]:
    """What in one parsed configuration file would run code or load kernels from elsewhere, as (code, message)."""
    problems = []
    for key, value in _items(document):
        if key in _CODE_KEYS and value:
            problems.append(_unsafe(f"{name} has {key!r}, which asks for code from the repository; remove it."))
        elif key == "trust_remote_code" and value:
            problems.append(_unsafe(f"{name} sets trust_remote_code; remove it."))
        elif "attn_implementation" in key and not _is_known_attention(key, value):
            problems.append(_unsafe(f"{name} has {key!r}: {value!r}, an unknown attention setting; remove it."))
        elif key == "quantization_config" and value:
            message = f"{name} has a quantization_config; submit the weights that are not quantised."
            problems.append((ModelUnsupported.code, message))
    return problems


def safety_problems(
    config: Mapping[str, Any], file_names: Collection[str], modules: Sequence[Any] | None
) -> list[Problem]:
    """Everything in a repository that stops it from being loaded safely, as (code, message).

    Args:
        config: the parsed config.json, `{}` where there is none.
        file_names: paths of all files, relative to the repository, with forward slashes.
        modules: the parsed modules.json, None where there is none.
    """
    problems = document_problems("config.json", config)
    problems += _module_problems(modules or [])
    if config.get("model_type") not in _WEIGHTLESS_TYPES:
        folders = ["", *(_module_folder(module) for module in modules or [])]
        problems += _weight_problems(file_names, folders)
        problems += _hidden_adapter_problems(file_names, folders)
    return problems


def adapter_problems(adapter_config: Mapping[str, Any], file_names: Collection[str]) -> list[Problem]:
    """What stops a PEFT adapter repository from being applied safely, as (code, message)."""
    problems = document_problems("adapter_config.json", adapter_config)
    if adapter_config.get("peft_type") != "LORA":
        kind = adapter_config.get("peft_type")
        problems.append(
            (ModelUnsupported.code, f"adapter_config.json has peft_type {kind!r}; only LORA can be applied.")
        )
    if "adapter_model.safetensors" not in file_names:
        pickled = any(PurePosixPath(name).name == "adapter_model.bin" for name in file_names)
        code = ModelUnsafe.code if pickled else ModelInvalid.code
        problems.append((code, "adapter_model.safetensors is missing; save the adapter as safetensors."))
    return problems


def check_folder_safety(folder: Path) -> None:
    """Refuse a model folder that could run code of its own or needs pickled weights.

    Raises:
        ModelUnsafe, ModelUnsupported, ModelInvalid: with all problems in one message, of the gravest kind found.
    """
    names = folder_file_names(folder)
    config = read_object(folder / "config.json") if "config.json" in names else {}
    problems = safety_problems(config, names, read_modules(folder))
    _raise_problems(folder, problems + _other_document_problems(folder, names, checked="config.json"))


def check_adapter_safety(folder: Path) -> None:
    """Refuse an adapter folder that could run code of its own or needs pickled weights.

    Raises:
        ModelUnsafe, ModelUnsupported, ModelInvalid: with all problems in one message, of the gravest kind found.
    """
    names = folder_file_names(folder)
    if "adapter_config.json" not in names:
        raise ModelInvalid(f"{folder.name} has no adapter_config.json, so it is not an adapter.")
    problems = adapter_problems(read_object(folder / "adapter_config.json"), names)
    _raise_problems(folder, problems + _other_document_problems(folder, names, checked="adapter_config.json"))


def folder_file_names(folder: Path) -> frozenset[str]:
    """Paths of all files under `folder`, relative to it, with forward slashes.

    Raises:
        ModelInvalid: `folder` is not a folder.
    """
    if not folder.is_dir():
        raise ModelInvalid(f"{folder} is not a folder; give the folder of a downloaded model repository.")
    return frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def read_json(path: Path) -> Any:
    """Parse one small JSON file.

    Raises:
        ModelInvalid: it is missing, larger than 10 MB, or not JSON.
    """
    try:
        if path.stat().st_size > _MAX_JSON_BYTES:
            raise ModelInvalid(f"{path.name} is larger than {_MAX_JSON_BYTES:,} bytes, too large for a configuration.")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelInvalid(f"{path.name} in {path.parent.name} cannot be read as JSON: {error}.") from error


def read_object(path: Path) -> dict[str, Any]:
    """Parse one JSON file that holds an object.

    Raises:
        ModelInvalid: it cannot be read or holds something else.
    """
    document = read_json(path)
    if not isinstance(document, dict):
        raise ModelInvalid(f"{path.name} in {path.parent.name} must hold a JSON object.")
    return document


def read_modules(folder: Path) -> list[Any] | None:
    """The parsed modules.json of a folder, None where it has none.

    Raises:
        ModelInvalid: it cannot be read or is not a list.
    """
    path = folder / "modules.json"
    if not path.is_file():
        return None
    modules = read_json(path)
    if not isinstance(modules, list):
        raise ModelInvalid(f"modules.json in {folder.name} must hold a list.")
    return modules


def _raise_problems(folder: Path, problems: Sequence[Problem]) -> None:
    """Raise the gravest kind among `problems`, with the distinct messages of all; nothing where there are none."""
    codes = {code for code, _ in problems}
    message = f"{folder.name}: " + " ".join(dict.fromkeys(message for _, message in problems))
    for kind in (ModelUnsafe, ModelUnsupported, ModelInvalid):
        if kind.code in codes:
            raise kind(message)


def _other_document_problems(folder: Path, names: Collection[str], *, checked: str) -> list[Problem]:
    problems = []
    for name in sorted(names):
        if PurePosixPath(name).name in CONFIG_NAMES and name != checked:
            problems += document_problems(name, read_json(folder / name))
    return problems


def _unsafe(message: str) -> Problem:
    return ModelUnsafe.code, message


def _items(document: Any) -> Iterator[tuple[str, Any]]:
    """Every key and value of nested objects and lists."""
    waiting = [document]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Mapping):
            yield from node.items()
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _is_known_attention(key: str, value: Any) -> bool:
    if key == _AUTOSET_KEY:
        return isinstance(value, bool)
    is_name = value is None or isinstance(value, str)
    return key in _ATTENTION_KEYS and is_name and value in _ATTENTION_VALUES


def _module_folder(module: Any) -> str:
    path = module.get("path", "") if isinstance(module, Mapping) else ""
    return path if isinstance(path, str) else ""


def _module_problems(modules: Sequence[Any]) -> list[Problem]:
    problems = []
    for module in modules:
        kind = module.get("type") if isinstance(module, Mapping) else None
        if not isinstance(kind, str):
            problems.append((ModelInvalid.code, "modules.json has an entry without a type."))
        elif not kind.startswith(_MODULE_PACKAGE):
            problems.append(_unsafe(f"modules.json asks for {kind}, which is not part of sentence_transformers."))
        path = PurePosixPath(_module_folder(module))
        if path.is_absolute() or ".." in path.parts:
            problems.append(_unsafe(f"modules.json points outside the repository: {path}."))
    return problems


def _weight_problems(file_names: Collection[str], folders: Sequence[str]) -> list[Problem]:
    """Weights are needed somewhere, and no folder that is loaded may have its weights only as pickles."""
    paths = [PurePosixPath(name) for name in file_names]
    safe = {path.parent for path in paths if path.suffix == ".safetensors"}
    problems = []
    for folder in dict.fromkeys(PurePosixPath(name) for name in folders):
        pickles = sorted(p.name for p in paths if p.parent == folder and p.suffix.lower() in PICKLE_SUFFIXES)
        if pickles and folder not in safe:
            where = f" in {folder}" if folder.name else ""
            problems.append(_unsafe(f"The weights{where} are pickled ({pickles[0]}); convert them to safetensors."))
    if not problems and not safe & {PurePosixPath(name) for name in folders}:
        problems.append((ModelInvalid.code, "There are no safetensors weights; add them to the repository."))
    return problems


def _hidden_adapter_problems(file_names: Collection[str], folders: Sequence[str]) -> list[Problem]:
    """An adapter beside a config.json would be applied silently, with a base model of its own choice."""
    hidden = {(PurePosixPath(name) / "adapter_config.json").as_posix() for name in folders} & set(file_names)
    message = "is an adapter beside a model; submit the base model, and the adapter as its adapter."
    return [(ModelUnsupported.code, f"{name} {message}") for name in sorted(hidden)]

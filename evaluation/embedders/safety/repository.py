"""Rules that keep a repository from running code of its own or taking a machine down.

They judge parsed documents and file names, so they serve a check before anything is downloaded as well as
`folder`, which applies them to a folder. A problem is (code of an error, message).
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from evaluation.embedders.safety.chat_templates import template_problems
from evaluation.errors import (
    AttentionUnknown,
    HeaderTooLarge,
    LinkOutside,
    ModelInvalid,
    ModelUnsupported,
    OwnCode,
    OwnModules,
    PathOutside,
    PicklesOnly,
    SizesImplausible,
    TemplateUnsafe,
    WeightsDamaged,
)

Problem = tuple[str, str]

# The gravest first: one of them stands for all problems of a folder.
PROBLEM_KINDS = (
    OwnCode,
    OwnModules,
    AttentionUnknown,
    LinkOutside,
    PathOutside,
    PicklesOnly,
    HeaderTooLarge,
    SizesImplausible,
    TemplateUnsafe,
    ModelUnsupported,
    WeightsDamaged,
    ModelInvalid,
)

PICKLE_SUFFIXES = frozenset({".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".h5", ".joblib"})
OPEN_CLIP_CONFIG = "open_clip_config.json"
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
        "chat_template.json",
        OPEN_CLIP_CONFIG,
    }
)
INDEX_NAME = "model.safetensors.index.json"

_CODE_KEYS = frozenset({"auto_map", "auto_mapping", "custom_pipelines", "custom_generate"})
_ATTENTION_KEYS = frozenset({"attn_implementation", "_attn_implementation"})
_ATTENTION_VALUES = frozenset({None, "eager", "sdpa", "flash_attention_2"})
_AUTOSET_KEY = "_attn_implementation_autoset"
_WEIGHTLESS_TYPES = ("medboard-chance",)  # not a set: a stranger's model type may be a list, which has no hash
_MODULE_PACKAGE = "sentence_transformers."
_MAX_RANK = 4_096
_MAX_JSON_BYTES = 10_000_000


def document_problems(name: str, document: Any) -> list[Problem]:
    """What in one parsed configuration file would run code, load kernels from elsewhere or never end."""
    problems = template_problems(name, document)
    for key, value in _items(document):
        if key in _CODE_KEYS and value:
            message = f"{name} has {key!r}, which asks for code from the repository; remove it."
            problems.append((OwnCode.code, message))
        elif key == "trust_remote_code" and value:
            problems.append((OwnCode.code, f"{name} sets trust_remote_code; remove it."))
        elif "attn_implementation" in key and not _is_known_attention(key, value):
            message = f"{name} has {key!r}: {value!r}, an unknown attention setting; remove it."
            problems.append((AttentionUnknown.code, message))
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
    rank = adapter_config.get("r", 1)
    if type(rank) is not int or not 1 <= rank <= _MAX_RANK:
        message = f"adapter_config.json has r {rank!r}; whole numbers from 1 to {_MAX_RANK:,} are taken."
        problems.append((SizesImplausible.code, message))
    if "adapter_model.safetensors" not in file_names:
        pickled = any(PurePosixPath(name).name == "adapter_model.bin" for name in file_names)
        code = PicklesOnly.code if pickled else ModelInvalid.code
        problems.append((code, "adapter_model.safetensors is missing; save the adapter as safetensors."))
    return problems


def index_problems(name: str, document: Any, file_names: Collection[str]) -> list[Problem]:
    """What is wrong with an index that says which file holds which weight, as (code, message).

    Args:
        name: of the index, relative to the repository.
        document: its content.
        file_names: paths of all files, relative to the repository, with forward slashes.
    """
    places = document.get("weight_map") if isinstance(document, Mapping) else None
    if not isinstance(places, Mapping) or not all(isinstance(place, str) for place in places.values()):
        return [(ModelInvalid.code, f"{name} has no weight_map from weights to files; save the model again.")]
    folder = PurePosixPath(name).parent
    for place in sorted(set(places.values())):
        if _is_outside(place) or PurePosixPath(place).name != place:
            return [(PathOutside.code, f"{name} names {place!r}, which is no file beside it; correct it.")]
        if (folder / place).as_posix() not in file_names or not place.endswith(".safetensors"):
            return [(ModelInvalid.code, f"{name} names {place}, which is no safetensors file beside it; upload it.")]
    return []


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


def _is_outside(path: str) -> bool:
    """Whether a path leads out of the folder that it is relative to, on any system."""
    parts = PurePosixPath(path.replace("\\", "/"))
    return parts.is_absolute() or ".." in parts.parts or ":" in path


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
            message = f"modules.json asks for {kind}, which is not part of sentence_transformers; remove it."
            problems.append((OwnModules.code, message))
        path = _module_folder(module)
        if _is_outside(path):
            problems.append((PathOutside.code, f"modules.json points outside the repository: {path}; correct it."))
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
            message = f"The weights{where} are pickled ({pickles[0]}); convert them to safetensors."
            problems.append((PicklesOnly.code, message))
    if not problems and not safe & {PurePosixPath(name) for name in folders}:
        problems.append((ModelInvalid.code, "There are no safetensors weights; add them to the repository."))
    return problems


def _hidden_adapter_problems(file_names: Collection[str], folders: Sequence[str]) -> list[Problem]:
    """An adapter beside a config.json would be applied silently, with a base model of its own choice."""
    hidden = {(PurePosixPath(name) / "adapter_config.json").as_posix() for name in folders} & set(file_names)
    message = "is an adapter beside a model; submit the base model, and the adapter as its adapter."
    return [(ModelUnsupported.code, f"{name} {message}") for name in sorted(hidden)]

"""Which files of a repository are downloaded: configuration, tokenizers, cards and safetensors weights."""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

ALLOWED_SUFFIXES = frozenset({".json", ".txt", ".md", ".jinja", ".model", ".spm", ".safetensors"})
MODULES_NAME = "modules.json"

_WHOLE_NAMES = frozenset({"model.safetensors", "adapter_model.safetensors"})
_OPEN_CLIP_NAME = "open_clip_model.safetensors"
_SHARD = re.compile(r"model-[0-9]{5}-of-[0-9]{5}\.safetensors")


def files_to_download(names: Collection[str], modules: Sequence[Any] | None = None) -> tuple[str, ...]:
    """The files that loading can need, sorted: those at the top and in the folders that modules.json names.

    Of weights, only the names that loaders look for; shards are left out where one file holds all.
    """
    folders = {PurePosixPath(), *module_folders(modules or ())}
    paths = sorted(PurePosixPath(name) for name in names)
    wanted = [path for path in paths if path.parent in folders and path.suffix in ALLOWED_SUFFIXES]
    return tuple(str(path) for path in wanted if path.suffix != ".safetensors" or _is_loaded(path, names))


def weights_among(names: Collection[str]) -> tuple[str, ...]:
    """The safetensors files among the names."""
    return tuple(name for name in names if name.endswith(".safetensors"))


def module_folders(modules: Sequence[Any]) -> frozenset[PurePosixPath]:
    """The folders of the modules of a sentence-transformers repository, within the repository."""
    found = (PurePosixPath(module["path"]) for module in modules if _has_path(module))
    return frozenset(path for path in found if not path.is_absolute() and ".." not in path.parts)


def _has_path(module: Any) -> bool:
    return isinstance(module, Mapping) and isinstance(module.get("path"), str)


def _is_loaded(path: PurePosixPath, names: Collection[str]) -> bool:
    if path.name in _WHOLE_NAMES:
        return True
    if path.name == _OPEN_CLIP_NAME:  # many repositories hold the same weights once more for transformers
        return str(path.parent / "model.safetensors") not in names
    return _SHARD.fullmatch(path.name) is not None and str(path.parent / "model.safetensors") not in names

"""What an evaluation ran on, for the record."""

import hashlib
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = (
    "numpy",
    "torch",
    "transformers",
    "tokenizers",
    "sentence-transformers",
    "peft",
    "pillow",
    "nibabel",
    "pydicom",
)
_VERSION_DIGITS = 12
_FOLDER = Path(__file__).parent


def describe_environment(device: str, *, threads: int = 1) -> dict[str, Any]:
    """Python, platform, packages and code version; `device` is a torch device and a GPU's name is added to it.

    `threads` is how many the model computes with on a CPU.
    """
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": device if device == "cpu" else _accelerator(device),
        "threads": threads,
        "code_version": code_version(),
        "packages": package_versions(),
    }


def package_versions() -> dict[str, str]:
    """The versions of the packages that an embedding depends on."""
    return {name: metadata.version(name) for name in _PACKAGES}


def device_kind(device: str) -> str:
    """The kind of a torch device: `cpu`, or a GPU's name without its number on this machine."""
    return device if device == "cpu" else _accelerator(device).removeprefix(device).strip(" ()") or device


def code_version() -> str:
    """Twelve digits of the sha256 over the sources of the evaluation package: changes with any change of code or data."""
    return _sources_version(_FOLDER.rglob(pattern) for pattern in ("*.py", "*.tsv", "*.json", "*.yaml"))


def encoder_version() -> str:
    """Twelve digits of the sha256 over the sources that turn an input into a vector."""
    return _sources_version(
        [[_FOLDER / "inputs.py"], *((_FOLDER / name).rglob("*.py") for name in ("decoding", "embedders", "embedding"))]
    )


def _sources_version(groups: Iterable[Iterable[Path]]) -> str:
    digest = hashlib.sha256()
    for path in sorted(path for group in groups for path in group):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(_FOLDER).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:_VERSION_DIGITS]


def _accelerator(device: str) -> str:
    import torch  # noqa: PLC0415 - only where an accelerator is used

    return f"{device} ({torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device

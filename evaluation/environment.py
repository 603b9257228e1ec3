"""What an evaluation ran on, for the record."""

import hashlib
import platform
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


def describe_environment(device: str) -> dict[str, Any]:
    """Python, platform, packages and code version; `device` is a torch device and a GPU's name is added to it."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "device": device if device == "cpu" else _accelerator(device),
        "code_version": code_version(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
    }


def code_version() -> str:
    """Twelve digits of the sha256 over the sources of the evaluation package: changes with any change of code or data."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(path for pattern in ("*.py", "*.tsv", "*.json") for path in folder.rglob(pattern)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:_VERSION_DIGITS]


def _accelerator(device: str) -> str:
    import torch  # noqa: PLC0415 - only where an accelerator is used

    return f"{device} ({torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device

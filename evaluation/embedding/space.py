"""The identity of a vector space: which model encodes how, on what. Vectors of two spaces are never mixed."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.environment import encoder_version, package_versions
from evaluation.errors import ModelInvalid
from evaluation.manifest import canonical_sha256

_METADATA_FOLDERS = frozenset({".cache", ".git"})  # what download tools leave in a folder; no part of the model


def model_sha256(*folders: Path) -> str:
    """The sha256 over the names and contents of all files of a model's folder and its adapter's.

    Raises:
        ModelInvalid: a file cannot be read.
    """
    try:
        return canonical_sha256([_file_digests(folder) for folder in folders])
    except OSError as error:
        raise ModelInvalid(f"{error.filename} cannot be read: {error.strerror}.") from error


def embedding_space(*, model: str, encode_config: Mapping[str, Any], device: str, threads: int) -> str:
    """64 hexadecimal digits that change with anything that changes a vector.

    Besides model and encode config these are the kind of device, the number of threads, which changes how sums are
    rounded, and the versions of the encoding code and of the packages that it runs on.

    Args:
        model: identity of the weights, such as `model_sha256` gives.
        encode_config: as in a model's description.
        device: the kind of device, e.g. `cpu`, or the name of a GPU.
        threads: how many the model computes with on a CPU.
    """
    return canonical_sha256(
        {
            "model": model,
            "encode_config": dict(encode_config),
            "device": device,
            "threads": threads,
            "encoder_version": encoder_version(),
            "packages": package_versions(),
        }
    )


def _file_digests(folder: Path) -> list[tuple[str, str]]:
    names = sorted(
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and not _METADATA_FOLDERS & set(path.relative_to(folder).parts)
    )
    return [(name.as_posix(), _digest(folder / name)) for name in names]


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

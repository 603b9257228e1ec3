"""What the hub's API says of a repository, as JSON values in the hub's shapes.

The names of the keys are those that `huggingface_hub` reads (`ModelInfo`, `RepoFile` and `RepoFolder` there).
"""

import json
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import prod
from pathlib import Path
from typing import Any

from yaml import YAMLError

from workers.local_hub.repository import HubFile, Repository, Revision

POINTER_BYTES = 134
MAX_HEADER_BYTES = 25_000_000
MAX_CONFIG_BYTES = 1_000_000


def model_info(
    repository: Repository, revision: Revision, *, with_blobs: bool = False, expand: Sequence[str] = ()
) -> dict[str, Any]:
    """The answer to `/api/models/<id>`. With `expand`, only the id and the properties named there."""
    card = _card(revision)
    config = _config(revision)
    info = {
        **_common_info(repository, revision, card, with_blobs=with_blobs),
        "config": {key: config[key] for key in ("architectures", "model_type") if key in config},
        "safetensors": _safetensors(revision),
    }
    return _expanded(info, expand)


def dataset_info(
    repository: Repository, revision: Revision, *, with_blobs: bool = False, expand: Sequence[str] = ()
) -> dict[str, Any]:
    """The answer to `/api/datasets/<id>`, as `model_info` is to a model's."""
    return _expanded(_common_info(repository, revision, _card(revision), with_blobs=with_blobs), expand)


def _expanded(info: dict[str, Any], expand: Sequence[str]) -> dict[str, Any]:
    return {"id": info["id"], **{key: info[key] for key in expand if key in info}} if expand else info


def _common_info(
    repository: Repository, revision: Revision, card: dict[str, Any] | None, *, with_blobs: bool
) -> dict[str, Any]:
    return {
        "id": repository.repo_id,
        "author": repository.repo_id.partition("/")[0],
        "sha": revision.commit,
        "lastModified": _last_modified(revision),
        "private": repository.settings.private,
        "gated": repository.settings.gated or False,
        "disabled": False,
        "downloads": 0,
        "likes": 0,
        "tags": _tags(card),
        "cardData": card,
        "siblings": [_sibling(file, with_blobs=with_blobs) for file in revision.files.values()],
    }


def tree(revision: Revision, folder: str, *, recursive: bool) -> list[dict[str, Any]] | None:
    """The entries below a folder ("" is the top), or None where there is no such folder."""
    if folder and folder not in revision.folders:
        return None
    prefix = f"{folder}/" if folder else ""
    entries = [_folder_entry(path, object_id) for path, object_id in revision.folders.items()]
    entries += [_file_entry(file) for file in revision.files.values()]
    below = [entry for entry in entries if entry["path"].startswith(prefix)]
    return [entry for entry in below if recursive or "/" not in entry["path"][len(prefix) :]]


def paths_info(revision: Revision, paths: Iterable[str]) -> list[dict[str, Any]]:
    """The entries of the named paths; names of nothing are left out, as on the hub."""
    entries = []
    for path in paths:
        if path in revision.files:
            entries.append(_file_entry(revision.files[path]))
        elif path in revision.folders:
            entries.append(_folder_entry(path, revision.folders[path]))
    return entries


def _file_entry(file: HubFile) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "file", "path": file.path, "size": file.size, "oid": file.blob_id}
    if file.large:
        entry["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": POINTER_BYTES}
    return entry


def _folder_entry(path: str, object_id: str) -> dict[str, Any]:
    return {"type": "directory", "path": path, "size": 0, "oid": object_id}


def _sibling(file: HubFile, *, with_blobs: bool) -> dict[str, Any]:
    if not with_blobs:
        return {"rfilename": file.path}
    sibling: dict[str, Any] = {"rfilename": file.path, "size": file.size, "blobId": file.blob_id}
    if file.large:
        sibling["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": POINTER_BYTES}
    return sibling


def _last_modified(revision: Revision) -> str:
    newest = max((file.source.stat().st_mtime for file in revision.files.values()), default=0)
    return datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _card(revision: Revision) -> dict[str, Any] | None:
    """The metadata at the head of README.md; a card that cannot be read has none, as on the hub."""
    # Here, because it loads much that serving files does not need.
    from huggingface_hub import metadata_load  # noqa: PLC0415

    readme = revision.files.get("README.md")
    if readme is None:
        return None
    try:
        return metadata_load(readme.source)
    except (ValueError, YAMLError):
        return None


def _tags(card: dict[str, Any] | None) -> list[str]:
    card = card or {}
    tags = [str(tag) for tag in card.get("tags") or []]
    return [*tags, f"license:{card['license']}"] if card.get("license") else tags


def _config(revision: Revision) -> dict[str, Any]:
    """config.json as an object; the hub leaves out what it cannot read, and so does this."""
    file = revision.files.get("config.json")
    if file is None or file.size > MAX_CONFIG_BYTES:
        return {}
    try:
        config = json.loads(file.source.read_bytes())
    except (ValueError, RecursionError):
        return {}
    return config if isinstance(config, dict) else {}


def _safetensors(revision: Revision) -> dict[str, Any] | None:
    """Parameters by data type, over the safetensors files at the top of the repository."""
    counts: Counter[str] = Counter()
    for file in revision.files.values():
        if "/" not in file.path and file.path.endswith(".safetensors"):
            counts.update(_parameters(file.source))
    return {"parameters": dict(counts), "total": counts.total()} if counts else None


def _parameters(path: Path) -> Counter[str]:
    """Parameters by data type from a safetensors header: https://huggingface.co/docs/safetensors#format."""
    counts: Counter[str] = Counter()
    with path.open("rb") as stream:
        size = stream.read(8)
        length = struct.unpack("<Q", size)[0] if len(size) == 8 else MAX_HEADER_BYTES + 1  # noqa: PLR2004 u64 prefix
        header = stream.read(length) if length <= MAX_HEADER_BYTES else b""
    try:
        tensors = json.loads(header)
        for name, tensor in tensors.items():
            if name != "__metadata__":
                counts[tensor["dtype"]] += prod(tensor["shape"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Counter()  # a damaged file has no summary on the hub either
    return counts

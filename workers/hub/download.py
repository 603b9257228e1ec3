"""The download of one commit of a repository: only files that loading needs, checked before and after."""

import glob
from collections.abc import Callable
from pathlib import Path

import httpx2
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from evaluation.embedders.registry import check_adapter_safety, check_folder_safety
from evaluation.errors import ErrorKind, ModelUnsafe
from evaluation.hub.connection import translate
from evaluation.hub.errors import DownloadFailed, RevisionMissing
from workers.hub.client import HubClient
from workers.hub.inspection import Inspection, inspect_adapter, inspect_model


def download_model(client: HubClient, *, repo_id: str, commit: str, cache_folder: Path, max_bytes: int) -> Path:
    """Download a model at exactly one commit and return its folder. A file that is in the cache is not fetched again.

    Raises:
        EvaluationError: its `kind` says whether trying again can help (`infrastructure`) or not (`model`, `limit`).
    """
    return _download(client, repo_id, commit, cache_folder, max_bytes, inspect=inspect_model, check=check_folder_safety)


def download_adapter(client: HubClient, *, repo_id: str, commit: str, cache_folder: Path, max_bytes: int) -> Path:
    """Download an adapter, as `download_model` does a model."""
    return _download(
        client, repo_id, commit, cache_folder, max_bytes, inspect=inspect_adapter, check=check_adapter_safety
    )


def _download(
    client: HubClient,
    repo_id: str,
    commit: str,
    cache_folder: Path,
    max_bytes: int,
    *,
    inspect: Callable[..., Inspection],
    check: Callable[[Path], None],
) -> Path:
    listing = client.listing(repo_id, commit)
    if listing.commit != commit:
        raise RevisionMissing(f"{commit} is not a full commit of {repo_id}; give its 40 hexadecimal digits.")
    inspection = inspect(client, listing, max_bytes=max_bytes)
    _refuse_problems(inspection)
    folder = _fetch(client, inspection, cache_folder)
    _check_sizes(inspection, folder)
    check(folder)
    return folder


def _refuse_problems(inspection: Inspection) -> None:
    """Raise the gravest problem, with what all say: unsafe first, and what can pass by itself last."""
    if not inspection.problems:
        return
    gravest = min(
        inspection.problems,
        key=lambda error: (error.kind is ErrorKind.INFRASTRUCTURE, not isinstance(error, ModelUnsafe)),
    )
    raise type(gravest)(" ".join(error.message for error in inspection.problems))


def _fetch(client: HubClient, inspection: Inspection, cache_folder: Path) -> Path:
    listing = inspection.listing
    try:
        folder = snapshot_download(
            listing.repo_id,
            revision=listing.commit,
            cache_dir=cache_folder,
            endpoint=client.endpoint,
            token=client.token,
            etag_timeout=client.timeout,
            allow_patterns=[glob.escape(name) for name in inspection.files],
        )
    except (httpx2.HTTPError, LocalEntryNotFoundError) as error:
        raise translate(error, listing.repo_id, listing.commit) from error
    except (OSError, RuntimeError) as error:
        # A full disk, a file of the wrong size, or a failure of the library's own transfer protocol.
        raise DownloadFailed(f"{listing.repo_id} could not be stored: {error}. Try again; check the disk.") from error
    return Path(folder)


def _check_sizes(inspection: Inspection, folder: Path) -> None:
    listing = inspection.listing
    for name in inspection.files:
        path = folder / name
        size = path.stat().st_size if path.is_file() else -1
        if size != listing.sizes[name]:
            message = f"{name} of {listing.repo_id} is damaged in {folder}; remove that folder and try again."
            raise DownloadFailed(message)

"""The download of one commit of a repository: only files that loading needs, checked before and after."""

import errno
import glob
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import httpx2
from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import LocalEntryNotFoundError
from huggingface_hub.utils import tqdm

from evaluation.embedders.registry import check_adapter_safety, check_folder_safety
from evaluation.errors import ErrorKind, ModelUnsafe
from evaluation.hub.connection import translate
from evaluation.hub.errors import DiskFull, DownloadFailed, RevisionMissing
from evaluation.repositories.client import HubClient
from evaluation.repositories.inspection import Inspection, inspect_adapter, inspect_model

MAX_DOWNLOAD_BYTES = 80_000_000_000


class DownloadWatch(Protocol):
    """Looks on while files are downloaded; what it raises ends the download."""

    def starts(self, missing_bytes: int) -> None:
        """So many bytes are not in the cache yet; called once, before the first of them is fetched."""
        ...

    def goes_on(self) -> None:
        """A piece of a file has come; called from several threads."""
        ...


class Unwatched:
    """Lets every download go on."""

    def starts(self, missing_bytes: int) -> None:
        """Let it start."""

    def goes_on(self) -> None:
        """Let it go on."""


UNWATCHED = Unwatched()


def download_model(
    client: HubClient,
    *,
    repo_id: str,
    commit: str,
    cache_folder: Path,
    max_bytes: int,
    watch: DownloadWatch = UNWATCHED,
) -> Path:
    """Download a model at exactly one commit and return its folder. A file that is in the cache is not fetched again.

    Raises:
        EvaluationError: its `kind` says whether trying again can help (`infrastructure`) or not (`model`, `limit`).
    """
    return _download(
        client, repo_id, commit, cache_folder, max_bytes, inspect=inspect_model, check=check_folder_safety, watch=watch
    )


def download_adapter(
    client: HubClient,
    *,
    repo_id: str,
    commit: str,
    cache_folder: Path,
    max_bytes: int,
    watch: DownloadWatch = UNWATCHED,
) -> Path:
    """Download an adapter, as `download_model` does a model."""
    return _download(
        client,
        repo_id,
        commit,
        cache_folder,
        max_bytes,
        inspect=inspect_adapter,
        check=check_adapter_safety,
        watch=watch,
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
    watch: DownloadWatch,
) -> Path:
    listing = client.listing(repo_id, commit)
    if listing.commit != commit:
        raise RevisionMissing(f"{commit} is not a full commit of {repo_id}; give its 40 hexadecimal digits.")
    inspection = inspect(client, listing, max_bytes=max_bytes)
    _refuse_problems(inspection)
    watch.starts(_missing_bytes(inspection, cache_folder))
    folder = _fetch(client, inspection, cache_folder, watch)
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


def _missing_bytes(inspection: Inspection, cache_folder: Path) -> int:
    listing = inspection.listing
    return sum(
        listing.sizes[name]
        for name in inspection.files
        if not isinstance(
            try_to_load_from_cache(listing.repo_id, name, cache_dir=cache_folder, revision=listing.commit), str
        )
    )


def _watched_bar(watch: DownloadWatch) -> type[tqdm]:
    """The library's progress bar, which asks `watch` at every piece."""

    class WatchedBar(tqdm):
        def update(self, n: float | None = 1) -> bool | None:
            watch.goes_on()
            shown: bool | None = super().update(n)
            return shown

    return WatchedBar


def _fetch(client: HubClient, inspection: Inspection, cache_folder: Path, watch: DownloadWatch) -> Path:
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
            tqdm_class=_watched_bar(watch),
        )
    except (httpx2.HTTPError, LocalEntryNotFoundError) as error:
        raise translate(error, listing.repo_id, listing.commit) from error
    except (OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            message = f"The disk is full: {listing.repo_id} could not be stored. Free it; what was stored is kept."
            raise DiskFull(message) from error
        # A file of the wrong size, or a failure of the library's own transfer protocol.
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

"""Models that a person names by their id on the hub: fetched at one commit, only files that loading needs."""

import os
from dataclasses import dataclass
from pathlib import Path

from evaluation.commands.options import DEFAULT_ENDPOINT

TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class FetchedRepository:
    """A repository on this machine, and the commit that it was fetched at (40 hexadecimal digits)."""

    folder: Path
    commit: str


def fetch_repository(repo_id: str, revision: str, *, is_adapter: bool) -> FetchedRepository:
    """Download a repository into `MODEL_CACHE_DIR` from the hub at `HUB_ENDPOINT`, with `HUB_TOKEN` if it is set.

    `revision` is a branch, tag or commit; empty means the main branch.

    Raises:
        EvaluationError: the hub does not answer, has no such repository or revision, or it cannot be loaded.
    """
    # Here, so that the commands that speak to no hub, the worker's child above all, do not load what does.
    from evaluation.repositories.client import HubClient  # noqa: PLC0415
    from evaluation.repositories.download import (  # noqa: PLC0415
        MAX_DOWNLOAD_BYTES,
        download_adapter,
        download_model,
    )

    client = HubClient(
        endpoint=os.environ.get("HUB_ENDPOINT", DEFAULT_ENDPOINT),
        token=os.environ.get("HUB_TOKEN", ""),
        timeout=TIMEOUT_SECONDS,
    )
    commit = client.listing(repo_id, revision).commit
    cache = Path(os.environ.get("MODEL_CACHE_DIR", Path.home() / ".cache" / "medboard" / "models"))
    download = download_adapter if is_adapter else download_model
    folder = download(client, repo_id=repo_id, commit=commit, cache_folder=cache, max_bytes=MAX_DOWNLOAD_BYTES)
    return FetchedRepository(folder=folder, commit=commit)

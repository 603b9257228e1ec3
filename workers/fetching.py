"""Brings the model of a run to this worker, within the limits of its cache and for as long as the run is wanted."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from evaluation.hub.errors import DownloadFailed
from leaderboard.exceptions import LeaseLost
from leaderboard.models import Run
from workers.hub import HuggingFaceHub
from workers.model_cache import ModelCache


@dataclass(frozen=True, slots=True)
class RunWatch:
    """Makes room before a download, and ends it when the run is not wanted any more or the time is up.

    Implements `evaluation.repositories.download.DownloadWatch`.
    """

    cache: ModelCache
    is_wanted: Callable[[], bool]
    deadline: float = field(default_factory=lambda: time.monotonic() + settings.DOWNLOAD_TIMEOUT_SECONDS)

    def starts(self, missing_bytes: int) -> None:
        """Remove models from the cache that were not used for long.

        Raises:
            DiskFull: that does not suffice.
        """
        self.goes_on()
        self.cache.make_room(missing_bytes)

    def goes_on(self) -> None:
        """Ask whether it should.

        Raises:
            LeaseLost: the run was cancelled or given to another worker, or this worker was told to stop.
            DownloadFailed: it takes too long.
        """
        if not self.is_wanted():
            raise LeaseLost("The run is not wanted any more; its download was ended.")
        if time.monotonic() > self.deadline:
            raise DownloadFailed(f"The download took more than {settings.DOWNLOAD_TIMEOUT_SECONDS} seconds.")


@contextlib.contextmanager
def fetched(run: Run, *, is_wanted: Callable[[], bool]) -> Iterator[tuple[Path, Path | None]]:
    """The folders of a run's model and of its adapter, if it has one, at exactly the run's commits.

    Inside the block they are in use: no worker removes them from the cache.

    Raises:
        EvaluationError: they cannot be had; its kind says whether trying again can help.
        LeaseLost: `is_wanted` said no.
    """
    revision = run.revision
    hub = HuggingFaceHub(endpoint=settings.HUB_ENDPOINT, token=settings.HUB_TOKEN)
    cache = ModelCache(settings.MODEL_CACHE_DIR, settings.MODEL_CACHE_BYTES)
    repo_ids = [name for name in (revision.model.repo_id, revision.adapter_repo_id) if name]
    with cache.in_use(repo_ids):
        place = {"cache_folder": cache.folder, "watch": RunWatch(cache, is_wanted)}
        model = hub.download(repo_id=revision.model.repo_id, commit=revision.commit, **place)
        adapter = None
        if revision.adapter_repo_id:
            adapter = hub.download_adapter(repo_id=revision.adapter_repo_id, commit=revision.adapter_commit, **place)
        yield model, adapter

"""Fills the galleries: the interactive worker embeds, this process reads the suites and writes the rows."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import redis
from celery import Celery
from django.conf import settings

from evaluation.errors import EvaluationError
from evaluation.suites.medheb.reader import read_suite
from evaluation.types import SuiteSpec
from evaluation.vocabulary import Family
from leaderboard.exceptions import ApplicationError
from leaderboard.models import Gallery
from leaderboard.models.vocabulary import SuiteKind
from leaderboard.selectors.catalogue import live_suites
from leaderboard.services.gallery import (
    NewItem,
    galleries_remove_old,
    gallery_items_store,
    gallery_open,
    gallery_publish,
)
from workers.demo.asking import WorkerFailed, ask_for_items
from workers.demo.celery import interactive_app
from workers.demo.gallery_items import FoundItem, collect_items
from workers.demo.messages import decode_rows
from workers.demo.presence import WorkerState, worker_state
from workers.demo.regions import region_of
from workers.pictures import small_picture

BATCH = 32
_WAIT_SECONDS = 300
_PAUSE_SECONDS = 0.5


class IndexingRefused(ApplicationError):
    """The galleries cannot be filled."""

    code = "indexing_refused"


def index_suites(suites: Sequence[str], *, remove_old: bool = False) -> Iterator[str]:
    """Index installed retrieval suites, by slug; see `leaderboard.ports.GalleryIndexer`.

    Raises:
        IndexingRefused: no worker answers, a suite is not installed or cannot be read.
    """
    state = _wait_for_worker()
    versions = {suite.slug: suite.version for suite in live_suites(SuiteKind.RETRIEVAL)}
    for slug in suites or _installed():
        folder = settings.SUITES_DIR / slug
        try:
            spec = read_suite(folder)
            found = collect_items(folder, spec)
        except EvaluationError as error:
            raise IndexingRefused(f"{slug}: {error.message}") from error
        yield from _index(slug, folder, spec, found, state)
        versions[slug] = spec.version
    if remove_old:
        yield from _remove_old(state, versions)


def _remove_old(state: WorkerState, versions: Mapping[str, str]) -> Iterator[str]:
    removed = galleries_remove_old(model_key=state.model_key, versions=versions)
    for gallery in removed:
        yield (
            f"removed: {gallery.suite_slug} {gallery.suite_version} as {gallery.model_name} embeds it,"
            f" {gallery.n_items} items; it was {gallery.reason}"
        )
    if not removed:
        yield "no gallery is old"


def _wait_for_worker() -> WorkerState:
    if not settings.PANEL_BROKER_URL:
        raise IndexingRefused("PANEL_BROKER_URL is not set, so no worker can be asked to embed.")
    client = redis.Redis.from_url(settings.PANEL_BROKER_URL)
    deadline = time.monotonic() + _WAIT_SECONDS
    pause = threading.Event()
    while time.monotonic() < deadline:
        state = worker_state(client)
        if state is not None and state.ready:
            return state
        pause.wait(_PAUSE_SECONDS)
    raise IndexingRefused(f"No interactive worker was ready within {_WAIT_SECONDS} seconds. Start one and repeat.")


def _index(slug: str, folder: Path, spec: SuiteSpec, found: dict[str, FoundItem], state: WorkerState) -> Iterator[str]:
    gallery, missing = gallery_open(
        suite_slug=slug,
        suite_version=spec.version,
        title=spec.title,
        synthetic=spec.synthetic,
        model_key=state.model_key,
        model_name=state.model_name,
        dimension=state.dimension,
        wanted=found.keys(),
    )
    app = interactive_app(settings.PANEL_BROKER_URL)
    todo = [item for key, item in found.items() if key in missing]
    yield f"{slug}: {len(found)} items, {len(todo)} of them new"
    done = 0
    for start in range(0, len(todo), BATCH):
        batch = todo[start : start + BATCH]
        for problem in _store(gallery, app, folder, batch):
            yield f"{slug}: left out: {problem}"
        done += len(batch)
        yield f"{slug}: {done} of {len(todo)} done"
    if found:
        gallery_publish(gallery=gallery)
    yield f"{slug}: can be searched"


def _installed() -> list[str]:
    """The retrieval suites that lie on this machine."""
    return [suite.slug for suite in live_suites(SuiteKind.RETRIEVAL) if (settings.SUITES_DIR / suite.slug).is_dir()]


def _store(gallery: Gallery, app: Celery, folder: Path, batch: Sequence[FoundItem]) -> Iterator[str]:
    """Embed and store a batch; where one of it cannot be embedded, the others are, and each fault is told.

    Raises:
        IndexingRefused: the worker fails or now has another model.
    """
    try:
        answer = ask_for_items(app, folder.name, [_message(item, folder) for item in batch])
    except WorkerFailed as error:
        raise IndexingRefused(f"The interactive worker failed: {error}. Repeat once it is up.") from error
    if "refused" in answer:
        if len(batch) == 1:
            yield answer["refused"]
            return
        for item in batch:
            yield from _store(gallery, app, folder, [item])
        return
    if answer["model_key"] != gallery.model_key:
        raise IndexingRefused("The interactive worker has another model than when indexing began. Repeat.")
    rows = decode_rows(answer["rows"])
    gallery_items_store(
        gallery=gallery,
        items=[_new_item(item, folder, row.tolist()) for item, row in zip(batch, rows, strict=True)],
    )


def _message(item: FoundItem, folder: Path) -> dict[str, object]:
    evidence = item.evidence
    return {"text": evidence.text, "images": _relative(item, folder), "is_volume": evidence.is_volume}


def _relative(item: FoundItem, folder: Path) -> tuple[str, ...]:
    return tuple(str(path.relative_to(folder)) for path in item.evidence.images)


def _new_item(item: FoundItem, folder: Path, embedding: Sequence[float]) -> NewItem:
    region = None
    if item.spec.family is Family.REGION_GROUNDING and item.whole is not None and len(item.evidence.images) == 1:
        region = region_of(item.evidence.images[0], item.whole)
    picture = small_picture(item.evidence) if item.evidence.images else None
    return NewItem(
        key=item.key,
        kind=item.kind,
        task=item.spec.name,
        family=item.spec.family,
        domain=item.spec.domain,
        label=item.label,
        caption=item.caption or item.evidence.text,
        source=", ".join(item.spec.datasets),
        licence=item.spec.licence,
        images=_relative(item, folder),
        picture=None if picture is None else picture.content,
        box=None if region is None else region[0],
        whole=None if region is None else region[1],
        embedding=embedding,
    )

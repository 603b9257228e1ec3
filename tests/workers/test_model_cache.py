"""Models make room for others, the longest unused first, never one that is in use; and downloads end when they must."""

import errno
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluation.errors import ErrorKind
from evaluation.hub.errors import DiskFull, DownloadFailed
from evaluation.repositories import download as downloads
from leaderboard.exceptions import LeaseLost
from tests.processes import BASE_DIR
from tests.workers.hub_helpers import clip_files, weights, write_repository
from workers.fetching import RunWatch
from workers.hub import HuggingFaceHub
from workers.local_hub.server import LocalHub
from workers.model_cache import SPARE_BYTES, ModelCache, folder_name

KIB = 1024


def store(cache: ModelCache, repo_id: str, *, size: int, used: float) -> Path:
    """A downloaded repository of some size, last used at a time."""
    folder = cache.folder / folder_name(repo_id)
    (folder / "blobs").mkdir(parents=True)
    (folder / "blobs" / "a").write_bytes(bytes(size))
    (folder / "snapshots").mkdir()
    (folder / "snapshots" / "model.safetensors").symlink_to(folder / "blobs" / "a")
    with cache.in_use([repo_id]):
        pass
    os.utime(cache.folder / ".use" / folder_name(repo_id), (used, used))
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "models", 100 * KIB)


def left(cache: ModelCache) -> list[str]:
    return sorted(path.name.rsplit("--", 1)[-1] for path in cache.folder.glob("models--*"))


def filled(cache: ModelCache) -> None:
    for used, name in enumerate(["lab/oldest", "lab/middle", "lab/newest"], start=1_000):
        store(cache, name, size=30 * KIB, used=used)


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        (10 * KIB, ["middle", "newest", "oldest"]),
        (11 * KIB, ["middle", "newest"]),
        (41 * KIB, ["newest"]),
        (100 * KIB, []),
        (0, ["middle", "newest", "oldest"]),
    ],
)
def test_no_more_is_removed_than_must_be_and_the_longest_unused_first(
    cache: ModelCache, needed: int, expected: list[str]
) -> None:
    filled(cache)
    cache.make_room(needed)
    assert left(cache) == expected


def test_a_use_makes_a_model_the_newest(cache: ModelCache) -> None:
    filled(cache)
    with cache.in_use(["lab/oldest"]):
        pass
    cache.make_room(41 * KIB)
    assert left(cache) == ["oldest"]


def test_a_model_in_use_is_never_removed_also_not_by_another_process(cache: ModelCache) -> None:
    filled(cache)
    script = (
        "import sys; from pathlib import Path; from workers.model_cache import ModelCache\n"
        f"with ModelCache(Path({str(cache.folder)!r}), 1).in_use(['lab/oldest']): print('held', flush=True); input()"
    )
    user = subprocess.Popen(
        [sys.executable, "-c", script], cwd=BASE_DIR, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert user.stdout.readline() == "held\n"
        cache.make_room(70 * KIB)
        assert left(cache) == ["oldest"]
        with pytest.raises(DiskFull, match="no room for 81,920 bytes"):
            cache.make_room(80 * KIB)
        assert left(cache) == ["oldest"]
    finally:
        user.kill()
        user.communicate()
    cache.make_room(80 * KIB)
    assert left(cache) == []


def test_a_full_disk_is_a_machines_failure_and_models_make_room_on_it(
    cache: ModelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(cache)
    monkeypatch.setattr("workers.model_cache.shutil.disk_usage", lambda _: Usage(free_beside(cache)))
    cache.make_room(50 * KIB)
    assert left(cache) == ["newest"]
    with pytest.raises(DiskFull) as caught:
        cache.make_room(99 * KIB)
    assert caught.value.kind is ErrorKind.INFRASTRUCTURE
    assert left(cache) == []


@dataclass
class Usage:
    free: int


def free_beside(cache: ModelCache) -> int:
    """A disk that models share with others: without any there are 90 KiB more than must be spared."""
    return SPARE_BYTES + 90 * KIB - 30 * KIB * len(left(cache))


def test_what_a_removal_that_was_cut_short_left_is_swept(cache: ModelCache) -> None:
    leftover = cache.folder / ".removed-models--lab--half"
    leftover.mkdir(parents=True)
    cache.make_room(1)
    assert not leftover.exists()


@pytest.fixture
def site(hub: LocalHub) -> HuggingFaceHub:
    return HuggingFaceHub(endpoint=hub.endpoint)


def fetch(site: HuggingFaceHub, cache: ModelCache, watch: Any) -> Path:
    cache.folder.mkdir(exist_ok=True)
    commit = site.preflight(repo_id="demo/clip").commit
    return site.download(repo_id="demo/clip", commit=commit, cache_folder=cache.folder, watch=watch)


class Counting:
    def __init__(self) -> None:
        self.missing: list[int] = []
        self.pieces = 0

    def starts(self, missing_bytes: int) -> None:
        self.missing.append(missing_bytes)

    def goes_on(self) -> None:
        self.pieces += 1


def test_only_what_is_missing_needs_room(hub_root: Path, site: HuggingFaceHub, cache: ModelCache) -> None:
    files = clip_files({"model.safetensors": weights(rows=500, columns=999)})
    write_repository(hub_root, "demo/clip", files)
    watch = Counting()
    fetch(site, cache, watch)
    fetch(site, cache, watch)
    assert watch.missing == [sum(len(content) for content in files.values()), 0]
    assert watch.pieces > 0


def test_a_download_ends_when_its_run_is_not_wanted_any_more(
    hub_root: Path, site: HuggingFaceHub, cache: ModelCache
) -> None:
    write_repository(hub_root, "demo/clip", clip_files({"model.safetensors": weights(rows=500, columns=999)}))
    answers = iter([True])
    roomy = ModelCache(cache.folder, 10**9)
    watch = RunWatch(roomy, lambda: next(answers, False))
    with roomy.in_use(["demo/clip"]), pytest.raises(LeaseLost):
        fetch(site, roomy, watch)
    assert not list(cache.folder.glob("**/snapshots/*/model.safetensors"))


def test_a_download_that_takes_too_long_ends(hub_root: Path, site: HuggingFaceHub, cache: ModelCache) -> None:
    write_repository(hub_root, "demo/clip", clip_files())
    watch = RunWatch(cache, lambda: True, deadline=time.monotonic() - 1)
    with pytest.raises(DownloadFailed, match="took more than"):
        fetch(site, cache, watch)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_meanwhile_is_said_and_the_next_attempt_succeeds(
    hub_root: Path, site: HuggingFaceHub, cache: ModelCache, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    write_repository(hub_root, "demo/clip", clip_files())

    def full(*arguments: object, **options: object) -> str:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(downloads, "snapshot_download", full)
        with pytest.raises(DiskFull, match="The disk is full"):
            fetch(site, cache, downloads.UNWATCHED)
    assert (fetch(site, cache, downloads.UNWATCHED) / "model.safetensors").is_file()


def test_many_may_make_room_at_once(cache: ModelCache) -> None:
    filled(cache)
    troubles: list[BaseException] = []

    def make() -> None:
        try:
            cache.make_room(70 * KIB)
        except OSError as error:
            troubles.append(error)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert troubles == []
    assert left(cache) == ["newest"]

"""The folder of downloaded models: those used longest ago make room, and never one that is in use.

Each repository has a file in `.use/`. Whoever uses the repository holds a shared lock on it, which the kernel releases
when the process ends, however it ends; its time of change is the time of the last use.
"""

import contextlib
import fcntl
import logging
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.hub.errors import DiskFull

SPARE_BYTES = 256 * 1024**2
"""Left free on the disk beside a model, for logs and vectors."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelCache:
    """A cache in `folder`, in the hub's layout, of at most `max_bytes`."""

    folder: Path
    max_bytes: int

    @contextlib.contextmanager
    def in_use(self, repo_ids: Sequence[str]) -> Iterator[None]:
        """Keep repositories, downloaded or not yet, from being removed inside the block."""
        with contextlib.ExitStack() as locks:
            for repo_id in repo_ids:
                file = locks.enter_context(self._open_use(folder_name(repo_id)))
                fcntl.flock(file, fcntl.LOCK_SH)
                os.utime(file)
            yield

    def make_room(self, needed: int) -> None:
        """Remove what was used longest ago until so many bytes more fit into the limit and onto the disk.

        Raises:
            DiskFull: they would not fit if everything that is not in use were removed.
        """
        with self._open_use(".making-room") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)  # two at once would each remove enough for both
            self._remove_leftovers()
            for name in self._by_last_use():
                if self._fits(needed):
                    return
                self._remove_unless_used(name)
        if not self._fits(needed):
            raise DiskFull(
                f"The model cache has no room for {needed:,} bytes more: it may hold {self.max_bytes:,}, and"
                f" {shutil.disk_usage(self.folder).free:,} are free on its disk. Raise MODEL_CACHE_BYTES or free the disk."
            )

    def _fits(self, needed: int) -> bool:
        used = sum(_size(path) for path in self._repositories())
        free = shutil.disk_usage(self.folder).free
        return needed == 0 or (used + needed <= self.max_bytes and needed + SPARE_BYTES <= free)

    def _repositories(self) -> list[Path]:
        return [path for path in self.folder.glob("models--*") if path.is_dir()]

    def _by_last_use(self) -> list[str]:
        """Names of the repositories' folders, the one used longest ago first."""
        used = {path.name: self._use_file(path.name) for path in self._repositories()}
        return sorted(used, key=lambda name: used[name].stat().st_mtime if used[name].exists() else 0.0)

    def _remove_unless_used(self, name: str) -> None:
        """Remove a repository, at once for whoever looks: a removal that is cut short leaves no half of a model."""
        with self._open_use(name) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            aside = self.folder / f".removed-{name}"
            (self.folder / name).rename(aside)
            shutil.rmtree(aside)
            logger.info("model cache: removed %s", name)

    def _remove_leftovers(self) -> None:
        for path in self.folder.glob(".removed-*"):
            shutil.rmtree(path)

    def _use_file(self, name: str) -> Path:
        return self.folder / ".use" / name.lower()

    @contextlib.contextmanager
    def _open_use(self, name: str) -> Iterator[int]:
        file = self._use_file(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def folder_name(repo_id: str) -> str:
    """The name of a model repository's folder in the hub's layout."""
    return f"models--{repo_id.replace('/', '--')}"


def _size(folder: Path) -> int:
    """Bytes of the files in a folder; links, with which the hub's layout names its files, do not count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):  # a download has just given it its name
                found = os.lstat(os.path.join(parent, name))  # noqa: PTH118 - pairs with os.walk
                total += found.st_size if stat.S_ISREG(found.st_mode) else 0
    return total

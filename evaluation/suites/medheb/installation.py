"""Installs the release: fetches task files and images, unpacks archives, reads every record, and writes the lock file.

Nothing that is there already is fetched again. The images are looked for as the records of the task files name them;
what no record names is not fetched, except inside archives.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Protocol

from evaluation.errors import ArchiveInvalid, EvaluationError, SuiteInvalid
from evaluation.manifest import MANIFEST_NAME
from evaluation.suites.archive_members import ArchiveLimits, ArchiveMember, is_foreign_archive, list_archive
from evaluation.suites.medheb.lock import SuiteLock, read_lock, write_lock
from evaluation.suites.medheb.readiness import TaskReadiness, survey_suite, task_files
from evaluation.suites.medheb.release_files import ReleaseFiles, archive_stem
from evaluation.suites.medheb.release_source import WORK_FOLDER, OnBytes, ReleaseFile, ReleaseSource
from evaluation.suites.unpacking import unpack
from evaluation.types import SuiteSpec, TaskSpec

_TRANSFERS = 8  # small files wait for the hub most of the time


class InstallationProgress(Protocol):
    """Who hears how far an installation is."""

    def fetching(self, n_files: int, n_bytes: int) -> OnBytes:
        """So many files are fetched next; what is returned is told of their bytes, from several threads."""

    def unpacking(self, archive: str) -> None:
        """An archive is being unpacked."""

    def verified(self, readiness: TaskReadiness) -> None:
        """A task was read."""

    def warn(self, message: str) -> None:
        """Something was left out."""


@dataclass(frozen=True, slots=True)
class Installation:
    """What to install, from where, and to which folder."""

    suite: SuiteSpec
    specs: tuple[TaskSpec, ...]
    source: ReleaseSource
    folder: Path
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)


def install(installation: Installation, progress: InstallationProgress) -> SuiteLock:
    """Install tasks of a suite and return the lock that was written. It can be started again after any interruption.

    Archives that cannot be unpacked are left as they are with a warning; their tasks then lack images.

    Raises:
        SuiteInvalid: the folder holds another suite, another installation is at work, or the lock file is damaged.
        EvaluationError: the source does not give a file, or it cannot be stored.
    """
    folder, suite = installation.folder, installation.suite
    if (folder / MANIFEST_NAME).exists():
        raise SuiteInvalid(f"{folder} holds a suite with {MANIFEST_NAME}; install the release to another folder.")
    with _alone(folder):
        earlier = read_lock(folder, suite=suite.slug)
        _fetch_all(installation, progress, is_update=_is_update(installation.source, earlier))
        found = survey_suite(folder, installation.specs, known={}, on_task=progress.verified)
        lock = SuiteLock(
            suite=suite.slug,
            source=installation.source.name,
            revision=installation.source.revision,
            installed_at=datetime.now(UTC).isoformat(timespec="seconds"),
            tasks={**earlier.tasks, **{readiness.task: readiness for readiness in found}},
        )
        write_lock(folder, lock)
    return lock


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time install to a folder."""
    work = folder / WORK_FOLDER
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise SuiteInvalid(f"Another process installs to {folder}; wait until it is done.") from error
        yield


def _is_update(source: ReleaseSource, earlier: SuiteLock) -> bool:
    """Whether files that are there may be of another revision."""
    if not earlier.installed_at:
        return False
    return not source.revision or (source.name, source.revision) != (earlier.source, earlier.revision)


def _fetch_all(installation: Installation, progress: InstallationProgress, *, is_update: bool) -> None:
    source, folder = installation.source, installation.folder
    chosen = ReleaseFiles(installation.specs, installation.suite.tasks)
    tables = [file for path, file in source.files.items() if chosen.is_task_file(path)]
    _fetch(installation, [file for file in tables if not source.has_same(file, folder / file.path)], progress)
    wanted = WantedImages(folder, installation.specs)
    images = [file for path, file in source.files.items() if wanted.names(path)]
    _fetch(installation, [file for file in images if _is_stale(installation, file, is_update=is_update)], progress)
    # First the archives that say whose they are: with them unpacked, the others may not be needed.
    for is_named in (True, False):
        archives = [
            source.files[path]
            for path in chosen.archives(source.files)
            if chosen.is_named(path) is is_named and (is_update or wanted.are_missing(chosen.roots_of_archive(path)))
        ]
        stale = [file for file in archives if _is_stale(installation, file, is_update=is_update)]
        _fetch(installation, stale, progress)
        _unpack_all(installation, chosen, wanted, progress)
    for path in source.files:
        if is_foreign_archive(PurePosixPath(path).name):
            progress.warn(f"{path} is of a kind that is not unpacked here. Fetch and unpack it by hand.")


def _is_stale(installation: Installation, file: ReleaseFile, *, is_update: bool) -> bool:
    path = installation.folder / file.path
    if is_update:
        return not installation.source.has_same(file, path)
    return not path.is_file() or path.stat().st_size != file.size


def _fetch(installation: Installation, files: Sequence[ReleaseFile], progress: InstallationProgress) -> None:
    if not files:
        return
    on_bytes = progress.fetching(len(files), sum(file.size for file in files))
    with ThreadPoolExecutor(max_workers=_TRANSFERS) as pool:
        transfers = [pool.submit(installation.source.fetch, file, installation.folder, on_bytes) for file in files]
        try:
            for transfer in as_completed(transfers):
                transfer.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class WantedImages:
    """The paths, below a suite's folder, at which the records of its installed task files look for images."""

    def __init__(self, folder: Path, specs: Sequence[TaskSpec]) -> None:
        self._folder = folder
        self._by_root: dict[str, set[str]] = {}
        for spec in specs:
            self._by_root.setdefault(spec.image_root, set()).update(_named_images(folder, spec))
        self._all = frozenset().union(*self._by_root.values())

    def names(self, path: str) -> bool:
        """Whether a record names the file at a path, or the folder of slices in which it lies."""
        return path in self._all or path.rpartition("/")[0] in self._all

    def lacks(self, path: str) -> bool:
        """Whether a record names the file at a path, and it is not there."""
        return self.names(path) and not self._is_there(path)

    def are_missing(self, roots: Sequence[str]) -> bool:
        """Whether any image of these roots is not there."""
        return any(not self._is_there(path) for root in roots for path in self._by_root.get(root, ()))

    def _is_there(self, path: str) -> bool:
        # Unlike a Path, this takes a name that no file can have for one that is not there.
        return os.path.exists(self._folder / path)  # noqa: PTH110


def _named_images(folder: Path, spec: TaskSpec) -> set[str]:
    try:
        return {str(PurePosixPath(spec.image_root, name)) for name in task_files(folder, spec)}
    except EvaluationError:
        return set()  # the survey says what is wrong with the task file


def _unpack_all(
    installation: Installation, chosen: ReleaseFiles, wanted: WantedImages, progress: InstallationProgress
) -> None:
    folder = installation.folder
    for path in _archives_below(folder, chosen, installation.specs):
        roots = chosen.roots_of_archive(path)
        if not wanted.are_missing(roots):
            continue
        try:
            members = list_archive(folder / path, installation.limits)
            target = _target(path, members, roots, wanted)
            if target is None:
                progress.warn(f"{path} holds no image that a record names; it is left as it is. Unpack it by hand.")
            elif any(wanted.lacks(str(target / member.path)) for member in members):
                progress.unpacking(path)
                unpack(folder / path, folder / target, installation.limits, listed=members)
        except ArchiveInvalid as error:
            progress.warn(error.message)


def _archives_below(folder: Path, chosen: ReleaseFiles, specs: Sequence[TaskSpec]) -> list[str]:
    """The archives in the image roots and in the folders above them; links to other places are not followed."""
    roots = {PurePosixPath(spec.image_root) for spec in specs if spec.image_root}
    above = {parent for root in roots for parent in root.parents}
    found = {path for parent in above for path in (folder / parent).glob("*")}
    found |= {path for root in roots for path in (folder / root).rglob("*")}
    paths = {path.relative_to(folder).as_posix() for path in found if path.is_file() and not path.is_symlink()}
    return chosen.archives(paths)


def _target(
    archive: str, members: Sequence[ArchiveMember], roots: Sequence[str], wanted: WantedImages
) -> PurePosixPath | None:
    """Where an archive is unpacked: the first place at which most of its members are images that records name.

    The places are the folder in which it lies, a folder of its own name beside it, and the image roots that it may
    serve. None if no record names any member at any of them.
    """
    beside = PurePosixPath(archive).parent
    places = list(dict.fromkeys([beside, beside / archive_stem(archive), *map(PurePosixPath, roots)]))
    hits = dict.fromkeys(places, 0)
    for member in members:
        for place in places:
            hits[place] += wanted.names(str(place / member.path))
    best = max(places, key=lambda place: hits[place])
    return best if hits[best] else None

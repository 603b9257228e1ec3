"""Unpacks an archive below a folder, and leaves what lies there already as it is."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from evaluation.errors import ArchiveInvalid, ArchiveUnsafe
from evaluation.suites.archive_members import (
    ArchiveLimits,
    ArchiveMember,
    archive_faults,
    list_archive,
    read_members,
)

_CHUNK_BYTES = 1 << 20
_PARTIAL_SUFFIX = ".unpacking"


def unpack(archive: Path, target: Path, limits: ArchiveLimits, *, listed: Sequence[ArchiveMember] | None = None) -> int:
    """Unpack all files of `archive` below `target` and return how many are new.

    The whole archive is checked before anything is written; `listed` is what `list_archive` said of it, if it was
    asked already.

    A file appears under its name only once it is whole, so an interrupted unpacking can be started again.

    Raises:
        ArchiveUnsafe: the archive breaks a rule of `read_members`, or a link below `target` leads out of it.
        ArchiveInvalid: it is damaged, it does not fit on the disk, or another file lies where one of its files goes.
    """
    total = sum(member.size for member in (list_archive(archive, limits) if listed is None else listed))
    target.mkdir(parents=True, exist_ok=True)
    if total > shutil.disk_usage(target).free:
        raise ArchiveInvalid(f"{archive} unpacks to {total:,} bytes, more than {target} has room for. Make room first.")
    placing = _Placing(archive, target)
    fresh = 0
    for member, open_member in read_members(archive, limits):
        with archive_faults(archive), open_member() as source:
            fresh += placing.place(member, source)
    return fresh


class _Placing:
    """Puts files of one archive at their place."""

    def __init__(self, archive: Path, target: Path) -> None:
        self._archive = archive
        self._target = target
        self._real_target = os.path.realpath(target)

    def place(self, member: ArchiveMember, source: IO[bytes]) -> bool:
        """Write a file, unless the same one is there; whether it was written."""
        path = self._target / member.path
        self._make_folder(path)
        if os.path.lexists(path):
            if not path.is_file() or path.is_symlink() or not _same_content(path, source, member.size):
                raise self._conflict(path)
            return False
        partial = path.with_name(f".{path.name[:200]}{_PARTIAL_SUFFIX}")
        try:
            with partial.open("wb") as stream:
                shutil.copyfileobj(source, stream, _CHUNK_BYTES)
                written = stream.tell()
            if written != member.size:
                raise ArchiveInvalid(f"{self._archive}: {member.path!r} has not the size that it says. Fetch it again.")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
        return True

    def _make_folder(self, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise self._conflict(path) from error
        if os.path.commonpath([os.path.realpath(path.parent), self._real_target]) != self._real_target:
            raise ArchiveUnsafe(f"{self._archive}: {path} leads out of {self._target} through a link. Unpack by hand.")

    def _conflict(self, path: Path) -> ArchiveInvalid:
        return ArchiveInvalid(
            f"{self._archive}: something else lies at {path} already. Remove the one that is wrong and install again."
        )


def _same_content(path: Path, source: IO[bytes], size: int) -> bool:
    if path.stat().st_size != size:
        return False
    with path.open("rb") as stream:
        while chunk := source.read(_CHUNK_BYTES):
            if stream.read(len(chunk)) != chunk:
                return False
    return True

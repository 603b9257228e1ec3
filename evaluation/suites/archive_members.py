"""The members of a zip or tar archive, each checked before anybody may read it."""

import bz2
import gzip
import lzma
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from evaluation.errors import ArchiveInvalid, ArchiveUnsafe, EvaluationError

# How each kind of compressed tar archive is opened; the module's `open(path)` reads its bytes.
_TAR_READERS: dict[str, Callable[[Path], Any]] = {
    ".tar": partial(Path.open, mode="rb"),
    ".tar.gz": gzip.open,
    ".tgz": gzip.open,
    ".tar.bz2": bz2.open,
    ".tbz2": bz2.open,
    ".tar.xz": lzma.open,
    ".txz": lzma.open,
}
_ZIP_SUFFIX = ".zip"
_OTHER_ARCHIVES = re.compile(r".+\.(rar|7z|zst|tzst|z\d\d|(zip|7z|tar|tgz|tar\.\w+)\.(\d+|part[-\w]*))", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_BLOCK_BYTES = 512  # of a tar archive
_ZIP_TAIL_BYTES = (1 << 16) + 200  # the longest comment and the end records
_SEE_ZIP64 = 0xFFFFFFFF
_DIRECTORY_BYTES_PER_FILE = 512
_LARGEST_READ = 1 << 24
_RUBBISH_FOLDER, _RUBBISH_PREFIXES = "__MACOSX", (".DS_Store", "._")

# Whatever the decoders of the standard library raise on damaged archives.
_FAULTS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    KeyError,
    IndexError,
)


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What one archive may hold: files, bytes in all, and bytes for each byte of its own above `free_bytes`."""

    files: int = 1_000_000
    total_bytes: int = 2 << 40
    ratio: int = 100
    free_bytes: int = 1 << 28


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file in an archive: its path below the archive's top, with `/`, and its size in bytes."""

    path: str
    size: int


OpenMember = Callable[[], IO[bytes]]


def archive_suffix(name: str) -> str:
    """The ending by which a name is that of an archive that can be unpacked, e.g. `.tar.gz`; "" for other names."""
    lower = name.lower()
    return next((suffix for suffix in (_ZIP_SUFFIX, *_TAR_READERS) if lower.endswith(suffix)), "")


def is_foreign_archive(name: str) -> bool:
    """Whether a name is that of an archive, or of a part of one, that has to be unpacked by other means."""
    return not archive_suffix(name) and _OTHER_ARCHIVES.fullmatch(name) is not None


def read_members(path: Path, limits: ArchiveLimits) -> Iterator[tuple[ArchiveMember, OpenMember]]:
    """Yield the files of an archive with a function that opens each; it may be called until the next one is asked for.

    Folders are passed over, and so is what macOS adds. Every member is checked first, links and devices included.

    Raises:
        ArchiveUnsafe: a path is absolute, has `..` or a backslash, occurs twice, or is a link or device; or there is
            more in it than `limits` allow, by what the archive says of itself.
        ArchiveInvalid: the archive is damaged, encrypted, or none.
    """
    guard = _Guard(path, limits)
    with archive_faults(path):
        yield from _zip_members(path, guard) if archive_suffix(path.name) == _ZIP_SUFFIX else _tar_members(path, guard)


def list_archive(path: Path, limits: ArchiveLimits) -> tuple[ArchiveMember, ...]:
    """All files of an archive that passed the checks of `read_members`, which raises the same errors."""
    return tuple(member for member, _ in read_members(path, limits))


@contextmanager
def archive_faults(path: Path) -> Iterator[None]:
    """Turn what a decoder raises into an error that names the archive."""
    try:
        yield
    except EvaluationError:
        raise
    except _FAULTS as error:
        raise ArchiveInvalid(
            f"{path} cannot be unpacked ({type(error).__name__}: {error}). Fetch it again or unpack it by hand."
        ) from error


class _Guard:
    """Lets members of one archive pass, and counts them."""

    def __init__(self, path: Path, limits: ArchiveLimits) -> None:
        self._path = path
        self._limits = limits
        allowed = limits.free_bytes + limits.ratio * path.stat().st_size
        self._allowed_bytes = min(limits.total_bytes, allowed)
        self._bytes = 0
        self._members = 0
        self._files: set[str] = set()

    def refusal(self, problem: str) -> ArchiveUnsafe:
        return ArchiveUnsafe(f"{self._path}: {problem}. Nothing of it is unpacked; look into it before you trust it.")

    def admit_directory(self, size: int) -> None:
        """Refuse a table of contents that is longer than that of as many files as are allowed."""
        if size > self._limits.files * _DIRECTORY_BYTES_PER_FILE:
            raise self.refusal(f"its table of contents has {size:,} bytes")

    def admit(self, name: str, size: int, *, is_file: bool, is_folder: bool) -> ArchiveMember | None:
        """The member, or None for what is passed over."""
        parts = self._parts(name)
        if not (is_file or is_folder):
            raise self.refusal(f"{name[:200]!r} is neither a file nor a folder but a link or device")
        self._members += 1
        self._bytes += size
        if self._members > self._limits.files:
            raise self.refusal(f"it holds more than {self._limits.files:,} files")
        if self._bytes > self._allowed_bytes:
            raise self.refusal(
                f"it unpacks to more than {self._allowed_bytes:,} bytes, which its size does not explain"
            )
        if is_folder or _RUBBISH_FOLDER in parts or parts[-1].startswith(_RUBBISH_PREFIXES):
            return None
        member = ArchiveMember("/".join(parts), size)
        if member.path in self._files:
            raise self.refusal(f"{member.path[:200]!r} is in it twice")
        self._files.add(member.path)
        return member

    def _parts(self, name: str) -> list[str]:
        try:
            name.encode("utf-8")
        except UnicodeEncodeError as error:
            raise self.refusal(f"the name {name[:200]!r} is not UTF-8") from error
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if name.startswith("/") or ".." in parts or "\\" in name or "\0" in name or _DRIVE.match(name):
            raise self.refusal(f"the path {name[:200]!r} leads out of the folder")
        if not parts:
            return [""]
        return parts


def _zip_members(path: Path, guard: _Guard) -> Iterator[tuple[ArchiveMember, OpenMember]]:
    guard.admit_directory(_zip_directory_bytes(path))
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            is_file = not info.is_dir() and kind in (0, stat.S_IFREG)
            # The name as stored: the library cuts it at a zero byte.
            member = guard.admit(info.orig_filename, info.file_size, is_file=is_file, is_folder=info.is_dir())
            if member is not None:
                yield member, partial(archive.open, info)


def _zip_directory_bytes(path: Path) -> int:
    """How long the table of contents of a zip archive says it is: the library reads it whole.

    It stands in the end record (PK 5 6) and, of large archives, in the zip64 end record (PK 6 6); APPNOTE.TXT of
    PKWARE, sections 4.3.14 and 4.3.16.
    """
    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - _ZIP_TAIL_BYTES, 0))
        tail = stream.read()
    sizes = [0]
    for mark, place, form in ((b"PK\x05\x06", 12, "<L"), (b"PK\x06\x06", 40, "<Q")):
        start = tail.rfind(mark)
        if 0 <= start <= len(tail) - place - struct.calcsize(form):
            (size,) = struct.unpack_from(form, tail, start + place)
            sizes.append(0 if size == _SEE_ZIP64 else size)
    return max(sizes)


def _tar_members(path: Path, guard: _Guard) -> Iterator[tuple[ArchiveMember, OpenMember]]:
    opener = _TAR_READERS[archive_suffix(path.name)]
    with opener(path) as stream, tarfile.open(fileobj=_BoundedReads(stream, guard), mode="r:") as archive:  # type: ignore[call-overload] # only read, seek and tell are used
        for info in archive:
            is_file = info.isreg() and not info.issparse()
            member = guard.admit(info.name, info.size, is_file=is_file, is_folder=info.isdir())
            if member is not None:
                yield member, cast("OpenMember", partial(archive.extractfile, info))
        _require_end(stream, archive.offset)


def _require_end(stream: Any, offset: int) -> None:
    """A tar archive ends with blocks of zeros; the library takes one that was cut short between members for whole."""
    stream.seek(offset)
    if stream.read(_BLOCK_BYTES) != bytes(_BLOCK_BYTES):
        raise tarfile.ReadError("the end is missing")


class _BoundedReads:
    """A stream that gives no header the memory that it asks for: members are read in small pieces, headers whole."""

    def __init__(self, stream: Any, guard: _Guard) -> None:
        self._stream = stream
        self._guard = guard

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _LARGEST_READ:
            raise self._guard.refusal("a header in it is larger than any header needs to be")
        return cast("bytes", self._stream.read(size))

    def seek(self, offset: int) -> int:
        return cast("int", self._stream.seek(offset))

    def tell(self) -> int:
        return cast("int", self._stream.tell())

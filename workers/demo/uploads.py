"""Checks uploads by their first bytes and their size; nothing is decoded here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workers.demo.limits import MAX_FILE_BYTES, MAX_FILES, MAX_TOTAL_BYTES
from workers.demo.refusals import PanelRefusal

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_DICOM, _DICOM_AT = b"DICM", 128
_HEAD_BYTES = _DICOM_AT + len(_DICOM)
_SHOWN_NAME = 40
_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that a visitor sent; `name` is only ever shown."""

    name: str
    content: bytes


def read_uploads(paths: Sequence[Path]) -> tuple[Upload, ...]:
    """The files in the order of their names (2 before 10), each with the first bytes of a PNG, JPEG or DICOM file.

    Raises:
        PanelRefusal: there are too many, one is empty, too large or of another type, or all together are too large.
    """
    if len(paths) > MAX_FILES:
        raise PanelRefusal(f"You sent {len(paths)} files; at most {MAX_FILES} slices are read. Send fewer.")
    total = 0
    uploads = []
    for path in sorted(paths, key=lambda one: _natural(one.name)):
        size = path.stat().st_size
        total += size
        name = shown_name(path.name)
        if size == 0:
            raise PanelRefusal(f"{name} is empty. Choose the file again.")
        if size > MAX_FILE_BYTES:
            raise PanelRefusal(f"{name} has {_megabytes(size)}; at most {_megabytes(MAX_FILE_BYTES)} are read.")
        if total > MAX_TOTAL_BYTES:
            raise PanelRefusal(f"The files have more than {_megabytes(MAX_TOTAL_BYTES)} together. Send fewer slices.")
        content = path.read_bytes()
        if not _is_known(content[:_HEAD_BYTES]):
            raise PanelRefusal(f"{name} is neither PNG, JPEG nor DICOM. Other types are not read, whatever their name.")
        uploads.append(Upload(name, content))
    return tuple(uploads)


def shown_name(name: str) -> str:
    """The end of a file's name, so that a long one does not fill the page."""
    return name if len(name) <= _SHOWN_NAME else f"…{name[-_SHOWN_NAME:]}"


def _natural(name: str) -> list[tuple[int, int, str]]:
    """A key by which numbers in names are ordered by their value."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _NUMBER.split(name) if part]


def _is_known(head: bytes) -> bool:
    return head.startswith((_PNG, _JPEG)) or head[_DICOM_AT:] == _DICOM


def _megabytes(size: int) -> str:
    return f"{size / 1024**2:.0f} MB" if size >= 1024**2 else f"{size:,} bytes"

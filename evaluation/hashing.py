"""The content key of an input: equal for equal content, wherever its files lie and whatever they are called."""

import hashlib
import json
from pathlib import Path

from evaluation.errors import InputUnreadable
from evaluation.inputs import EmbeddingInput

_KEY_FORMAT = "medboard-input-1"


class FileHashes:
    """The sha256 of files, each file read once in the life of this object (one run)."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def of(self, path: Path) -> str:
        """The sha256 of a file's bytes in hexadecimal digits.

        A folder is a DICOM series, whose order is in its files and not in their names: its hash covers the sorted
        hashes of its files.

        Raises:
            InputUnreadable: the file or folder does not exist, cannot be read, or the folder is empty.
        """
        known = self._known.get(path)
        if known is None:
            known = self._of_folder(path) if path.is_dir() else _of_file(path)
            self._known[path] = known
        return known

    def _of_folder(self, folder: Path) -> str:
        digests = sorted(self.of(path) for path in series_files(folder))
        return hashlib.sha256(json.dumps(["series", *digests]).encode()).hexdigest()


def series_files(folder: Path) -> list[Path]:
    """The files of a DICOM series folder by name, without hidden ones.

    Raises:
        InputUnreadable: the folder cannot be listed or has no files.
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except OSError as error:
        raise InputUnreadable(f"{folder} cannot be listed: {error}. Check its permissions.") from error
    if not files:
        raise InputUnreadable(f"{folder} is a folder without files; put the DICOM files of one series in it.")
    return files


def content_key(source: EmbeddingInput, hashes: FileHashes) -> str:
    """The sha256 (64 hexadecimal digits) over a canonical form of everything that is embedded.

    It covers text, instruction, whether the images are one volume, which slice of it is shown and how,
    and the bytes of each file in reading order.

    Raises:
        InputUnreadable: a file is missing or cannot be read.
    """
    parts: list[object] = [_KEY_FORMAT, source.text, source.instruction, source.is_volume]
    parts.append([hashes.of(path) for path in source.images])
    if source.plane is not None:
        parts.append([source.plane.slice_index, source.plane.level, source.plane.width])
    canonical = json.dumps(parts, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def _of_file(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise InputUnreadable(f"{path} does not exist; install the images of this task.") from error
    except OSError as error:
        raise InputUnreadable(f"{path} cannot be read: {error}.") from error

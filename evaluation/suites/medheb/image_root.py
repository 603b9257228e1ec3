"""Turns the image paths of records into files, and refuses every path that leaves the task's image root."""

import os
import stat
from pathlib import Path, PurePosixPath

from evaluation.errors import DataMissing, RecordInvalid


class ImageRoot:
    """The folder under which all images of one task lie. The folder itself may be a link; nothing in it may lead out."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._real_folder = os.path.realpath(folder)
        self._known: dict[str, Path] = {}

    def file(self, relative: str, *, where: str) -> Path:
        """The file (or DICOM folder) at a path relative to the root; `where` names record and field in messages.

        Raises:
            RecordInvalid: the path is absolute, has `..`, or leads out of the root through a link.
            DataMissing: nothing lies there.
        """
        known = self._known.get(relative)
        if known is None:
            known = self._checked(relative, where=where)
            self._known[relative] = known
        return known

    def _checked(self, relative: str, *, where: str) -> Path:
        pure = PurePosixPath(relative)
        if pure.is_absolute() or ".." in pure.parts or "\0" in relative:
            raise RecordInvalid(f"{where}: {relative!r} must be a path inside the image root, without '..'.")
        path = self._folder / relative
        try:
            real = os.path.realpath(path, strict=True)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataMissing(f"{where}: {path} does not exist. Put the image there; see the task's source.") from error
        except OSError as error:
            raise RecordInvalid(f"{where}: {path} cannot be opened: {error.strerror}.") from error
        except ValueError as error:
            raise RecordInvalid(f"{where}: {relative!r} is no path that a file could have.") from error
        if not self._holds(real):
            raise RecordInvalid(f"{where}: {relative!r} leads out of the image root {self._folder} through a link.")
        self._check_kind(path, real, where=where)
        return path

    def _holds(self, real: str) -> bool:
        return os.path.commonpath([real, self._real_folder]) == self._real_folder

    def _check_kind(self, path: Path, real: str, *, where: str) -> None:
        """Refuse what would never end when it is read, such as a pipe, and a series with a file from elsewhere."""
        mode = os.stat(real).st_mode  # noqa: PTH116 - called for every image; a Path costs more than the question
        if stat.S_ISDIR(mode):
            with os.scandir(real) as entries:
                for entry in entries:
                    if entry.is_symlink() and not self._holds(os.path.realpath(entry.path)):
                        raise RecordInvalid(f"{where}: {path / entry.name} leads out of the image root through a link.")
        elif not stat.S_ISREG(mode):
            raise RecordInvalid(f"{where}: {path} is neither a file nor a folder. Put the image there.")

"""Finds the images of a data set below its folder, whatever the publisher's archives were unpacked into."""

import hashlib
from collections import defaultdict
from pathlib import Path

from evaluation.errors import DataMissing, SuiteInvalid
from evaluation.suites.medtec.anchors.tables import Row

PLANE_ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".bmp")
VOLUME_ENDINGS = (".nii.gz", ".nii")
_DIGEST_DIGITS = 16


class ImageFolder:
    """The images below a folder by name without ending.

    Raises:
        DataMissing: the folder is not there or holds no image.
    """

    def __init__(self, folder: Path, endings: tuple[str, ...] = PLANE_ENDINGS) -> None:
        self.folder = folder
        self._endings = endings
        self._files: dict[str, list[Path]] = defaultdict(list)
        for file in images_below(folder, endings):
            self._files[without_ending(file.name, endings)].append(file)

    def of(self, row: Row, name: str) -> Path:
        """The image that a row names, with or without an ending.

        Raises:
            DataMissing: it is not there.
            SuiteInvalid: several files have this name.
        """
        files = self._files.get(without_ending(name, self._endings), [])
        if not files:
            raise DataMissing(f"{row.where}: image {name!r} is not below {self.folder}; put it there")
        if len(files) > 1:
            raise SuiteInvalid(
                f"{row.where}: image {name!r} is below {self.folder} {len(files)} times, e.g. {files[0]} and {files[1]}; "
                "keep one"
            )
        return files[0]


def images_below(folder: Path, endings: tuple[str, ...] = PLANE_ENDINGS) -> list[Path]:
    """All images below a folder, sorted by path.

    Raises:
        DataMissing: the folder is not there or holds no image.
    """
    files = sorted(file for file in folder.rglob("*") if file.name.lower().endswith(endings) and file.is_file())
    if not files:
        raise DataMissing(f"{folder} holds no images ({', '.join(endings)}); put the publisher's images there")
    return files


def without_ending(name: str, endings: tuple[str, ...] = PLANE_ENDINGS) -> str:
    """A file's name without its ending, if it is one of `endings`."""
    ending = next((ending for ending in endings if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)]


def content_cluster(file: Path) -> str:
    """The cluster of an image whose publisher names neither patient nor lesion: copies of one image share it.

    Raises:
        DataMissing: the file cannot be read.
    """
    try:
        return f"content-{hashlib.sha256(file.read_bytes()).hexdigest()[:_DIGEST_DIGITS]}"
    except OSError as error:
        raise DataMissing(f"{file} cannot be read: {error.strerror}. Check its permissions.") from error

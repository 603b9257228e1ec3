"""Puts chosen images below a suite's folder."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from evaluation.hashing import FileHashes
from evaluation.suites.medtec.anchors.images import PLANE_ENDINGS, VOLUME_ENDINGS

IMAGES = "images"


@dataclass(frozen=True, slots=True)
class Placing:
    """Puts images of a data set below a suite's folder."""

    folder: Path
    dataset: str
    hashes: FileHashes

    def place(self, file: Path, name: str) -> tuple[str, str]:
        """The path of `file` below the folder and the sha256 of its bytes; hard-linked where the disk allows it.

        Raises:
            InputUnreadable: the file cannot be read.
        """
        path = f"{IMAGES}/{self.dataset}/{name}{_ending(file)}"
        target = self.folder / path
        digest = self.hashes.of(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        try:
            target.hardlink_to(file)
        except OSError:
            shutil.copyfile(file, target)
        return path, digest


def _ending(file: Path) -> str:
    return next((ending for ending in (*VOLUME_ENDINGS, *PLANE_ENDINGS) if file.name.lower().endswith(ending)), "")

"""A source data set of the mini suite, and the case that every reader of publishers' tables gives."""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import DataMissing, SuiteInvalid
from evaluation.vocabulary import Domain, Split

IMAGE_ENDINGS = frozenset({".jpg", ".jpeg", ".png"})


@dataclass(frozen=True, slots=True)
class Source:
    """One data set: `folder` below the raw data, `dataset` its name in the suite.

    A held-out source gives no training pairs. `shown` says whether a page may show its images.
    """

    dataset: str
    folder: str
    title: str
    domain: Domain
    licence: str
    shown: bool
    split: Split
    notes: str = ""

    @property
    def image_root(self) -> str:
        """Where the images lie below the suite's folder."""
        return f"2D_Images/{self.dataset}"


@dataclass(frozen=True, slots=True)
class RawCase:
    """One image of a patient; the label is in the words that a task uses.

    Sources without patient ids count each image as a patient of its own.
    """

    patient: str
    file: Path
    label: str
    caption: str = ""


def read_table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header.

    Raises:
        DataMissing: the file is not there.
    """
    if not path.is_file():
        raise DataMissing(f"{path} does not exist; put the publisher's table there")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def images_in(folder: Path) -> dict[str, Path]:
    """The images of a folder by name without ending, in order of name.

    Raises:
        DataMissing: the folder is not there or holds no image.
    """
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() in IMAGE_ENDINGS)
    if not files:
        raise DataMissing(f"{folder} holds no images; put the publisher's images there")
    return {path.stem: path for path in files}


def checked(cases: Iterable[RawCase], source: str) -> list[RawCase]:
    """The cases in order of file name, without later copies of the same bytes.

    Raises:
        SuiteInvalid: there is none, or two images have one name.
    """
    kept = list(_distinct(sorted(cases, key=lambda case: case.file.name)))
    if not kept:
        raise SuiteInvalid(f"{source}: the tables and the images have nothing in common; check the folder's layout")
    return kept


def _distinct(cases: Iterable[RawCase]) -> Iterator[RawCase]:
    seen: set[bytes] = set()
    for case in cases:
        content = case.file.read_bytes()
        if content not in seen:
            seen.add(content)
            yield case

"""Data sets without a table: the folder or the beginning of a file's name says the class."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from evaluation.errors import RecordInvalid
from evaluation.suites.medtec.anchors.candidates import Candidate, Reading
from evaluation.suites.medtec.anchors.images import content_cluster, images_below, without_ending


@dataclass(frozen=True, slots=True)
class FolderLayout:
    """How the files of a data set are named.

    `classes` maps the publisher's words to labels, `word` takes the word from a path below the source, `is_image` says
    which files are images and not masks, `splits` are names of folders that say the publisher's split.
    """

    classes: Mapping[str, str]
    word: Callable[[PurePath], str]
    is_image: Callable[[PurePath], bool]
    splits: Mapping[str, str]


def folder_of(path: PurePath) -> str:
    """The name of the folder that a file lies in."""
    return path.parent.name


def every_image(path: PurePath) -> bool:
    """For data sets without masks."""
    return True


def read_folders(source: Path, layout: FolderLayout) -> Reading:
    """All images below `source`. The publisher names no patients: copies of one image are one cluster.

    Raises:
        DataMissing: there are no images.
        RecordInvalid: a file is of no known class; the message names it.
    """
    files = [file for file in images_below(source) if layout.is_image(file.relative_to(source))]
    return Reading(tuple(_candidate(file, source, layout) for file in files), ())


def _candidate(file: Path, source: Path, layout: FolderLayout) -> Candidate:
    relative = file.relative_to(source)
    word = layout.word(relative)
    if word not in layout.classes:
        raise RecordInvalid(f"{file}: {word!r} is none of the classes {', '.join(layout.classes)}; use the publisher's")
    split = next((layout.splits[part] for part in relative.parts if part in layout.splits), "")
    return Candidate(
        where=str(file),
        name=without_ending(relative.as_posix()),
        file=file,
        cluster=content_cluster(file),
        labels=(layout.classes[word],),
        label_source="the publisher's class",
        source_split=split,
    )

"""What every adapter of a publisher's tables gives: the images that may become anchors, and the data set's facts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.vocabulary import Level, Modality

DEFAULT_PER_LABEL = 150
ALL_LEVELS = tuple(Level)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One image of a data set with everything that its table says of it.

    `where` names file and row in messages, `name` is unique in the data set. `labels` are all findings that are true of
    the image, or `no_finding` alone. `unfit` says in one word why it can be no anchor whatever its labels are, e.g.
    `not_frontal`; empty if nothing speaks against it. `file` lies anywhere on this machine.
    """

    where: str
    name: str
    file: Path
    cluster: str
    labels: tuple[str, ...]
    label_source: str
    unfit: str = ""
    source_split: str = ""
    region: str = ""
    view: str = ""
    slice_index: int | None = None
    window: str = ""
    sex: str = ""
    age: float | None = None
    skin_tone: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A data set as read. `tables` are the files that labels came from; `counts` are further facts for the header."""

    candidates: tuple[Candidate, ...]
    tables: tuple[Path, ...]
    counts: Mapping[str, int] = field(default_factory=dict)


def label_stratum(candidate: Candidate) -> str:
    """The stratum of most data sets: the one label of the image."""
    return candidate.labels[0]


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set that anchors are taken from.

    `strata` are all that a selection needs to fill, `stratum` says which one a single-label image belongs to. `levels`
    are those that the labels can carry. In some data sets a patient rightly has images of several strata
    (`clusters_may_differ`): such patients are left out. In the others that is an error of the table. `multi_label` sets
    also serve the zero-shot protocol, `captioned` ones the retrieval protocol.
    """

    name: str
    title: str
    modality: Modality
    version: str
    licence: str
    images_may_be_shown: bool
    strata: tuple[str, ...]
    read: Callable[[Path], Reading]
    notes: str
    stratum: Callable[[Candidate], str] = label_stratum
    levels: tuple[Level, ...] = ALL_LEVELS
    per_label: int = DEFAULT_PER_LABEL
    clusters_may_differ: bool = True
    multi_label: bool = False
    captioned: bool = False

"""CheXpert: `train.csv` and `valid.csv`, one row an image, fourteen columns of 1, 0, -1 (uncertain) or nothing."""

import math
from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import without_ending
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLES = {"train": "train.csv", "valid": "valid.csv"}
_LABELS = {
    "No Finding": NO_FINDING,
    "Enlarged Cardiomediastinum": "enlarged_cardiomediastinum",
    "Cardiomegaly": "cardiomegaly",
    "Lung Opacity": "lung_opacity",
    "Lung Lesion": "lung_lesion",
    "Edema": "edema",
    "Consolidation": "consolidation",
    "Pneumonia": "pneumonia",
    "Atelectasis": "atelectasis",
    "Pneumothorax": "pneumothorax",
    "Pleural Effusion": "pleural_effusion",
    "Pleural Other": "pleural_other",
    "Fracture": "fracture",
    "Support Devices": "support_devices",
}
_PARENTS = {
    "lung_opacity": ("lung_lesion", "edema", "consolidation", "pneumonia", "atelectasis"),
    "enlarged_cardiomediastinum": ("cardiomegaly",),
    "consolidation": ("pneumonia",),
}
_COLUMNS = ("Path", "Sex", "Age", "Frontal/Lateral", "AP/PA", *_LABELS)
_POSITIVE, _UNCERTAIN = "positive", "uncertain"
_MARKS = {"1.0": _POSITIVE, "1": _POSITIVE, "0.0": "", "0": "", "": "", "-1.0": _UNCERTAIN, "-1": _UNCERTAIN}
_SEXES = {"Male": "male", "Female": "female", "Unknown": "", "": ""}
_POSITIONS = {"Frontal": True, "Lateral": False}
_VIEWS = {"AP": "anteroposterior", "PA": "posteroanterior", "LL": "left lateral", "RL": "right lateral", "": ""}


def read_chexpert(source: Path) -> Reading:
    """All images of the tables that are there; at least one must be.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    tables = {split: source / name for split, name in _TABLES.items() if (source / name).is_file()}
    if not tables:
        raise DataMissing(f"{source} has neither {' nor '.join(_TABLES.values())}; put the publisher's tables there")
    candidates = [
        _candidate(row, source, split) for split, table in tables.items() for row in read_rows(table, _COLUMNS)
    ]
    return Reading(tuple(candidates), tuple(tables.values()))


def _candidate(row: Row, source: Path, split: str) -> Candidate:
    marks = {label: row.word(column, _MARKS) for column, label in _LABELS.items()}
    positive = {label for label, mark in marks.items() if mark == _POSITIVE}
    if NO_FINDING in positive and positive - {NO_FINDING, "support_devices"}:
        raise row.fault("No Finding is 1 beside a finding; correct the table")
    age = row.age("Age")
    frontal = row.word("Frontal/Lateral", _POSITIONS)
    unfit = "" if frontal else "not_frontal"
    if age == math.inf:
        unfit = "age_impossible"
    elif not unfit and _doubtful(positive, {label for label, mark in marks.items() if mark == _UNCERTAIN}):
        unfit = "uncertain_label"
    file, name = _locate(row, source, split)
    return Candidate(
        where=row.where,
        name=name,
        file=file,
        cluster=_patient(row, name),
        labels=tuple(sorted(positive - _implied(positive))),
        label_source="mined from the radiology report" if split == "train" else "radiologists' consensus",
        unfit=unfit,
        source_split=split,
        view=row.word("AP/PA", _VIEWS),
        sex=row.word("Sex", _SEXES),
        age=age,
    )


def _implied(positive: set[str]) -> set[str]:
    """Ancestors of a positive label are true with it and count as no second label."""
    return {parent for parent, children in _PARENTS.items() if positive.intersection(children)}


def _doubtful(positive: set[str], uncertain: set[str]) -> bool:
    """Whether a label that may be true stands beside the positive ones, or in place of one."""
    return bool(uncertain - _implied(positive))


def _locate(row: Row, source: Path, split: str) -> tuple[Path, str]:
    """The image, whose path in the table begins with the name of the publisher's folder, and its name in the set."""
    parts = Path(row.filled("Path")).parts
    if split not in parts or ".." in parts:
        raise row.fault(f"Path {row.text('Path')!r} does not lead through a folder {split}")
    relative = Path(*parts[parts.index(split) :])
    file = source / relative
    if not file.is_file():
        raise DataMissing(f"{row.where}: image {relative} is not below {source}; put it there")
    return file, without_ending(relative.as_posix())


def _patient(row: Row, name: str) -> str:
    patient = next((part for part in name.split("/") if part.startswith("patient")), "")
    if not patient:
        raise row.fault(f"Path {row.text('Path')!r} names no patient")
    return patient


CHEXPERT = DataSet(
    name="chexpert",
    title="CheXpert",
    modality=Modality.CHEST_RADIOGRAPH,
    version="1.0",
    licence="Stanford University Dataset Research Use Agreement",
    images_may_be_shown=False,
    strata=tuple(_LABELS.values()),
    read=read_chexpert,
    notes=(
        "Frontal films. An uncertain label counts as positive, so such a film is left out. Lung opacity, enlarged "
        "cardiomediastinum and consolidation are no second label beside a finding that implies them."
    ),
)

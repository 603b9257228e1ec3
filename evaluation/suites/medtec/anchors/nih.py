"""NIH ChestX-ray14: `Data_Entry_2017.csv`, one row an image, findings separated by bars."""

import math
from pathlib import Path

from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder, without_ending
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLE = "Data_Entry_2017.csv"
_COLUMNS = ("Image Index", "Finding Labels", "Patient ID", "Patient Age", "Patient Gender", "View Position")
_LABELS = {
    "Atelectasis": "atelectasis",
    "Cardiomegaly": "cardiomegaly",
    "Effusion": "pleural_effusion",
    "Infiltration": "infiltration",
    "Mass": "mass",
    "Nodule": "nodule",
    "Pneumonia": "pneumonia",
    "Pneumothorax": "pneumothorax",
    "Consolidation": "consolidation",
    "Edema": "edema",
    "Emphysema": "emphysema",
    "Fibrosis": "fibrosis",
    "Pleural_Thickening": "pleural_thickening",
    "Hernia": "hernia",
    "No Finding": NO_FINDING,
}
_SEXES = {"M": "male", "F": "female", "": ""}
_VIEWS = {"PA": "posteroanterior", "AP": "anteroposterior"}


def read_nih(source: Path) -> Reading:
    """All images of the table.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, _COLUMNS)
    images = ImageFolder(source)
    return Reading(tuple(_candidate(row, images) for row in rows), (table,))


def _candidate(row: Row, images: ImageFolder) -> Candidate:
    labels = {row.known(word, _LABELS, "Finding Labels") for word in row.filled("Finding Labels").split("|")}
    if NO_FINDING in labels and len(labels) > 1:
        raise row.fault("Finding Labels has 'No Finding' beside a finding; correct the table")
    age = row.age("Patient Age")
    name = row.filled("Image Index")
    return Candidate(
        where=row.where,
        name=without_ending(name),
        file=images.of(row, name),
        cluster=f"patient-{row.filled('Patient ID')}",
        labels=tuple(sorted(labels)),
        label_source="text-mined from the radiology report by the publisher",
        unfit="age_impossible" if age == math.inf else "",
        view=row.word("View Position", _VIEWS),
        sex=row.word("Patient Gender", _SEXES),
        age=age,
    )


NIH = DataSet(
    name="nih_chestxray14",
    title="NIH ChestX-ray14",
    modality=Modality.CHEST_RADIOGRAPH,
    version="Data_Entry_2017",
    licence="NIH Clinical Center: free use with credit",
    images_may_be_shown=True,
    strata=tuple(_LABELS.values()),
    read=read_nih,
    notes="Labels are mined from reports and known to be noisy. Rows with an age above 120 years are left out.",
    multi_label=True,
)

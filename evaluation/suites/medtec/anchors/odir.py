"""ODIR-5K: `full_df.csv`, one row an eye, with the eight flags of the patient and the keywords of each eye."""

import math
import re
from pathlib import Path

from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.idrid import RETINOPATHY
from evaluation.suites.medtec.anchors.images import ImageFolder, without_ending
from evaluation.suites.medtec.anchors.openi import OTHER_FINDING
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLE = "full_df.csv"
_DISEASES = {
    "D": RETINOPATHY,
    "G": "glaucoma",
    "C": "cataract",
    "A": "age_related_macular_degeneration",
    "H": "hypertensive_retinopathy",
    "M": "pathologic_myopia",
    "O": OTHER_FINDING,
}
_KEYWORDS = {"left": "Left-Diagnostic Keywords", "right": "Right-Diagnostic Keywords"}
_COLUMNS = ("ID", "Patient Age", "Patient Sex", *_KEYWORDS.values(), "N", *_DISEASES, "filename")
_FLAGS = {"0": False, "1": True}
_SEXES = {"Male": "male", "Female": "female"}
_NORMAL = "normal fundus"
_QUALITY = {
    "lens dust": "",
    "image offset": "poor_quality",
    "low image quality": "poor_quality",
    "optic disk photographically invisible": "poor_quality",
    "anterior segment image": "not_fundus",
    "no fundus image": "not_fundus",
}
# The publisher separates keywords with the full-width comma.
_SEPARATOR = re.compile("[,\uff0c]")


def read_odir(source: Path) -> Reading:
    """All eyes of the table.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, _COLUMNS)
    images = ImageFolder(source)
    return Reading(tuple(_candidate(row, images) for row in rows), (table,))


def _candidate(row: Row, images: ImageFolder) -> Candidate:
    file_name = row.filled("filename")
    name = without_ending(file_name)
    side = name.rpartition("_")[2]
    if side not in _KEYWORDS:
        raise row.fault(f"filename {file_name!r} does not end in _left or _right")
    keywords = {word.strip() for word in _SEPARATOR.split(row.filled(_KEYWORDS[side])) if word.strip()}
    age = row.age("Patient Age")
    faults = ["age_impossible" if age == math.inf else "", *sorted(_QUALITY.get(word, "") for word in keywords)]
    return Candidate(
        where=row.where,
        name=name,
        file=images.of(row, file_name),
        cluster=f"patient-{row.filled('ID')}",
        labels=_labels(row, keywords - set(_QUALITY)),
        label_source="keywords of the eye and the patient's flags",
        unfit=next((fault for fault in faults if fault), ""),
        view=f"{side} eye",
        sex=row.word("Patient Sex", _SEXES),
        age=age,
    )


def _labels(row: Row, keywords: set[str]) -> tuple[str, ...]:
    """A normal eye shows nothing; a sick one has every disease of the patient, as the flags do not say which eye has it."""
    diseases = {label for flag, label in _DISEASES.items() if row.word(flag, _FLAGS)}
    normal = row.word("N", _FLAGS)
    if normal and diseases:
        raise row.fault("N is 1 beside a disease; correct the table")
    if _NORMAL in keywords and len(keywords) > 1:
        raise row.fault(f"{_NORMAL!r} stands beside another keyword; correct the table")
    if _NORMAL in keywords:
        return (NO_FINDING,)
    if normal:
        raise row.fault(
            f"N is 1, but the eye's keywords are {', '.join(sorted(keywords)) or 'empty'}; correct the table"
        )
    return tuple(sorted(diseases))


ODIR = DataSet(
    name="odir5k",
    title="ODIR-5K",
    modality=Modality.FUNDUS,
    version="Kaggle ocular-disease-recognition-odir5k",
    licence="ODIR-2019 challenge terms",
    images_may_be_shown=False,
    strata=(NO_FINDING, *(label for label in _DISEASES.values() if label != OTHER_FINDING)),
    read=read_odir,
    notes="Flags are the patient's: an eye that is not normal counts for every disease that its patient has.",
)

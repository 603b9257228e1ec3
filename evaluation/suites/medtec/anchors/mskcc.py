"""MSKCC skin tone labelling: the metadata table of an ISIC archive collection, strata by Fitzpatrick type."""

import math
from pathlib import Path

from evaluation.suites.medtec.anchors import sites
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Level, Modality

BENIGN_LESION = "benign_lesion"

_TABLE = "metadata.csv"
_COLUMNS = (
    "isic_id",
    "age_approx",
    "anatom_site_general",
    "diagnosis_1",
    "fitzpatrick_skin_type",
    "image_type",
    "lesion_id",
    "patient_id",
    "sex",
)
_SKIN_TONES = {"I": "I", "II": "II", "III": "III", "IV": "IV", "V": "V", "VI": "VI", "": ""}
_SEXES = {"male": "male", "female": "female", "": ""}
_TYPES = {"dermoscopic": "", "clinical: close-up": "not_dermoscopy", "clinical: overview": "not_dermoscopy"}
_DIAGNOSES = {"Benign": BENIGN_LESION}


def read_mskcc(source: Path) -> Reading:
    """All images of the table; every lesion of the collection is benign.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, _COLUMNS)
    images = ImageFolder(source)
    return Reading(tuple(_candidate(row, images) for row in rows), (table,))


def _candidate(row: Row, images: ImageFolder) -> Candidate:
    name = row.filled("isic_id")
    tone = row.word("fitzpatrick_skin_type", _SKIN_TONES)
    region = row.word("anatom_site_general", sites.ISIC_SITES)
    age = row.age("age_approx")
    faults = (
        row.word("image_type", _TYPES),
        "" if tone else "skin_tone_unknown",
        "" if region else "site_unknown",
        "age_impossible" if age == math.inf else "",
    )
    return Candidate(
        where=row.where,
        name=name,
        file=images.of(row, name),
        cluster=row.text("patient_id") or row.filled("lesion_id"),
        labels=(row.word("diagnosis_1", _DIAGNOSES),),
        label_source="diagnosis of the collection",
        unfit=next((fault for fault in faults if fault), ""),
        region=region,
        sex=row.word("sex", _SEXES),
        age=age,
        skin_tone=tone,
    )


def _skin_tone(candidate: Candidate) -> str:
    return candidate.skin_tone


MSKCC = DataSet(
    name="mskcc_skin_tone",
    title="MSKCC skin tone labelling (ISIC collection 413)",
    modality=Modality.DERMOSCOPY,
    version="ISIC archive, collection 413",
    licence="as given by the ISIC archive for each image",
    images_may_be_shown=False,
    strata=tuple(tone for tone in _SKIN_TONES if tone),
    read=read_mskcc,
    notes="Strata are Fitzpatrick types. All lesions are benign, so that only L1 to L3 can be asked.",
    stratum=_skin_tone,
    levels=(Level.L1, Level.L2, Level.L3),
    per_label=300,
)

"""PAD-UFES-20: `metadata.csv`, one row a smartphone photograph of a skin lesion."""

import math
from pathlib import Path

from evaluation.suites.medtec.anchors import sites
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder, without_ending
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLE = "metadata.csv"
_COLUMNS = ("patient_id", "age", "fitspatrick", "gender", "region", "diagnostic", "img_id", "biopsed")
_LABELS = {
    "ACK": "actinic_keratosis",
    "BCC": "basal_cell_carcinoma",
    "MEL": "melanoma",
    "NEV": "melanocytic_nevus",
    "SCC": "squamous_cell_carcinoma",
    "SEK": "seborrheic_keratosis",
}
_SEXES = {"MALE": "male", "FEMALE": "female", "": ""}
_SKIN_TONES = {"1.0": "I", "2.0": "II", "3.0": "III", "4.0": "IV", "5.0": "V", "6.0": "VI", "": ""}
_SOURCES = {"True": "histopathology", "False": "experts' consensus"}


def read_pad_ufes(source: Path) -> Reading:
    """All photographs of the table.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, _COLUMNS)
    images = ImageFolder(source)
    return Reading(tuple(_candidate(row, images) for row in rows), (table,))


def _candidate(row: Row, images: ImageFolder) -> Candidate:
    name = row.filled("img_id")
    age = row.age("age")
    return Candidate(
        where=row.where,
        name=without_ending(name),
        file=images.of(row, name),
        cluster=row.filled("patient_id"),
        labels=(row.word("diagnostic", _LABELS),),
        label_source=row.word("biopsed", _SOURCES),
        unfit="age_impossible" if age == math.inf else "",
        region=row.word("region", sites.PAD_UFES_SITES),
        sex=row.word("gender", _SEXES),
        age=age,
        skin_tone=row.word("fitspatrick", _SKIN_TONES),
    )


PAD_UFES = DataSet(
    name="pad_ufes_20",
    title="PAD-UFES-20",
    modality=Modality.SKIN_PHOTOGRAPH,
    version="Mendeley Data zr7vgbcyr2/1",
    licence="CC BY 4.0",
    images_may_be_shown=True,
    strata=tuple(_LABELS.values()),
    read=read_pad_ufes,
    notes="Smartphone photographs, not dermoscopy. The Fitzpatrick type is missing for part of the patients.",
)

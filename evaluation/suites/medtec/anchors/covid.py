"""COVID-19 image data collection: chest films with the clinical notes of their patient, for the retrieval protocol."""

from pathlib import Path

from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder, without_ending
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLE = "metadata.csv"
_COLUMNS = ("patientid", "view", "modality", "filename", "clinical_notes")
_FRONTAL_VIEWS = frozenset({"PA", "AP", "AP Supine", "AP Erect"})


def read_covid(source: Path) -> Reading:
    """All images of the table; the notes are the caption, and there are no labels.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, _COLUMNS)
    images = ImageFolder(source)
    return Reading(tuple(_candidate(row, images) for row in rows), (table,))


def _candidate(row: Row, images: ImageFolder) -> Candidate:
    name = row.filled("filename")
    film = row.filled("modality") == "X-ray"
    frontal = row.text("view") in _FRONTAL_VIEWS
    return Candidate(
        where=row.where,
        name=without_ending(name),
        file=images.of(row, name),
        cluster=f"patient-{row.filled('patientid')}",
        labels=(),
        label_source="",
        unfit="" if film and frontal else "not_frontal_film",
        view=row.text("view"),
        caption=" ".join(row.text("clinical_notes").split()),
    )


COVID = DataSet(
    name="covid_chestxray",
    title="COVID-19 image data collection",
    modality=Modality.CHEST_RADIOGRAPH,
    version="ieee8023/covid-chestxray-dataset",
    licence="for each image; mostly CC BY-NC-SA",
    images_may_be_shown=False,
    strata=(),
    read=read_covid,
    notes="Clinical notes stand in for captions: they tell of the patient, and only in part of the film.",
    captioned=True,
)

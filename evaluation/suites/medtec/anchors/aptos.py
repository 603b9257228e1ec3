"""APTOS 2019: `train.csv` with a retinopathy grade 0 to 4."""

from pathlib import Path

from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.idrid import RETINOPATHY
from evaluation.suites.medtec.anchors.images import ImageFolder, content_cluster
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLE = "train.csv"
_LABELS = {"0": NO_FINDING, "1": RETINOPATHY, "2": RETINOPATHY, "3": RETINOPATHY, "4": RETINOPATHY}


def read_aptos(source: Path) -> Reading:
    """All images of the table.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, ("id_code", "diagnosis"))
    images = ImageFolder(source)
    return Reading(tuple(_candidate(row, images) for row in rows), (table,))


def _candidate(row: Row, images: ImageFolder) -> Candidate:
    name = row.filled("id_code")
    file = images.of(row, name)
    return Candidate(
        where=row.where,
        name=name,
        file=file,
        cluster=content_cluster(file),
        labels=(row.word("diagnosis", _LABELS),),
        label_source=f"a clinician's grade {row.text('diagnosis')}",
        source_split="train",
    )


APTOS = DataSet(
    name="aptos2019",
    title="APTOS 2019",
    modality=Modality.FUNDUS,
    version="Kaggle aptos2019-blindness-detection, train",
    licence="Kaggle competition rules",
    images_may_be_shown=False,
    strata=(NO_FINDING, RETINOPATHY),
    read=read_aptos,
    notes=(
        "Grades 1 to 4 are one label: they are steps of one scale, and a neighbour is no clean negative. Other findings, "
        "macular oedema among them, are not published, so that a negative that names one may be true."
    ),
)

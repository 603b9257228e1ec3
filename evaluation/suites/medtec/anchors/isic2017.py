"""ISIC 2017, part 3: two columns of 1.0 and 0.0 for each image; neither means a naevus."""

from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder, content_cluster
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Level, Modality

_TABLES = {
    "ISIC-2017_Training_Part3_GroundTruth.csv": "train",
    "ISIC-2017_Validation_Part3_GroundTruth.csv": "valid",
    "ISIC-2017_Test_v2_Part3_GroundTruth.csv": "test",
    "ground_truth.csv": "",
}
_MARKS = {"1.0": True, "1": True, "0.0": False, "0": False}
_MELANOMA, _KERATOSIS, _NAEVUS = "melanoma", "seborrheic_keratosis", "melanocytic_nevus"


def read_isic2017(source: Path) -> Reading:
    """All images of the tables that are there; at least one must be.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    tables = {source / name: split for name, split in _TABLES.items() if (source / name).is_file()}
    if not tables:
        raise DataMissing(f"{source} has none of {', '.join(_TABLES)}; put the publisher's tables there")
    images = ImageFolder(source)
    candidates = [
        _candidate(row, images, split)
        for table, split in tables.items()
        for row in read_rows(table, ("image_id", _MELANOMA, _KERATOSIS))
    ]
    return Reading(tuple(candidates), tuple(tables))


def _candidate(row: Row, images: ImageFolder, split: str) -> Candidate:
    marked = {label for label in (_MELANOMA, _KERATOSIS) if row.word(label, _MARKS)}
    if len(marked) > 1:
        raise row.fault("melanoma and seborrheic_keratosis are both 1; correct the table")
    name = row.filled("image_id")
    file = images.of(row, name)
    return Candidate(
        where=row.where,
        name=name,
        file=file,
        cluster=content_cluster(file),
        labels=tuple(marked) or (_NAEVUS,),
        label_source="ground truth of the challenge",
        source_split=split,
    )


ISIC2017 = DataSet(
    name="isic2017",
    title="ISIC 2017",
    modality=Modality.DERMOSCOPY,
    version="challenge 2017, part 3",
    licence="CC0 1.0",
    images_may_be_shown=True,
    strata=(_MELANOMA, _KERATOSIS, _NAEVUS),
    read=read_isic2017,
    notes="The site of the lesion is not published, so there is no anatomy level.",
    levels=(Level.L1, Level.L2, Level.L4, Level.L5),
)

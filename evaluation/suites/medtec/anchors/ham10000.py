"""HAM10000: `HAM10000_metadata.csv`, one row an image, and the metadata of ISIC 2019 joined to it on the image."""

import math
from pathlib import Path

from evaluation.suites.medtec.anchors import sites
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import ImageFolder
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Modality

_TABLE = "HAM10000_metadata.csv"
_ISIC_TABLE = "ISIC_2019_Training_Metadata.csv"
_COLUMNS = ("lesion_id", "image_id", "dx", "dx_type", "age", "sex", "localization")
_ISIC_COLUMNS = ("image", "age_approx", "anatom_site_general", "sex")
# The publisher's codes, and the same classes written out as mirrors of the data do.
_LABELS = {
    "akiec": "actinic_keratosis",
    "bcc": "basal_cell_carcinoma",
    "bkl": "benign_keratosis",
    "df": "dermatofibroma",
    "mel": "melanoma",
    "nv": "melanocytic_nevus",
    "vasc": "vascular_lesion",
    "Actinic keratoses and intraepithelial carcinoma": "actinic_keratosis",
    "Basal cell carcinoma": "basal_cell_carcinoma",
    "Benign keratosis-like lesions": "benign_keratosis",
    "Dermatofibroma": "dermatofibroma",
    "Melanoma": "melanoma",
    "Melanocytic nevi": "melanocytic_nevus",
    "Vascular lesions": "vascular_lesion",
}
_SEXES = {"male": "male", "female": "female", "unknown": "", "": ""}
_SOURCES = {
    "histo": "histopathology",
    "follow_up": "follow-up",
    "consensus": "experts' consensus",
    "confocal": "confocal microscopy",
}


def read_ham10000(source: Path) -> Reading:
    """All images of the table; sex, age and site come from ISIC 2019 where that table lies in the folder too.

    Raises:
        SuiteInvalid: table or images are not as the publisher gives them; the message names file and row.
    """
    table, isic_table = source / _TABLE, source / _ISIC_TABLE
    joined = isic_table.is_file()
    isic = {row.filled("image"): row for row in read_rows(isic_table, _ISIC_COLUMNS)} if joined else None
    images = ImageFolder(source)
    candidates = tuple(_candidate(row, images, isic) for row in read_rows(table, _COLUMNS))
    return Reading(candidates, (table, isic_table) if joined else (table,), {"joined_to_isic2019": int(joined)})


def _candidate(row: Row, images: ImageFolder, isic: dict[str, Row] | None) -> Candidate:
    name = row.filled("image_id")
    matched = row if isic is None else isic.get(name)
    region, sex, age = _attributes(matched or row, joined=isic is not None and matched is not None)
    unfit = "" if region else "site_unknown"
    if matched is None:
        unfit = "not_in_isic2019"
    elif age == math.inf:
        unfit = "age_impossible"
    return Candidate(
        where=row.where,
        name=name,
        file=images.of(row, name),
        cluster=row.filled("lesion_id"),
        labels=(row.word("dx", _LABELS),),
        label_source=row.word("dx_type", _SOURCES),
        unfit=unfit,
        region=region,
        sex=sex,
        age=age,
    )


def _attributes(row: Row, *, joined: bool) -> tuple[str, str, float | None]:
    """Site, sex and age of the ISIC 2019 row, or of HAM10000's own."""
    if joined:
        return row.word("anatom_site_general", sites.ISIC_SITES), row.word("sex", _SEXES), row.age("age_approx")
    return row.word("localization", sites.HAM10000_SITES), row.word("sex", _SEXES), row.age("age")


HAM10000 = DataSet(
    name="ham10000",
    title="HAM10000",
    modality=Modality.DERMOSCOPY,
    version="Harvard Dataverse DBW86T",
    licence="CC BY-NC 4.0",
    images_may_be_shown=False,
    strata=tuple(dict.fromkeys(_LABELS.values())),
    read=read_ham10000,
    notes=(
        "A lesion is the cluster: the publisher names no patients. Images without a known site are left out, as the "
        "anatomy level asks for it."
    ),
    clusters_may_differ=False,
)

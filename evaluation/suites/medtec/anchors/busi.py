"""BUSI: ultrasound of the breast in class folders, with masks beside the images or in folders of their own."""

from pathlib import Path, PurePath

from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import DataSet, Reading
from evaluation.suites.medtec.anchors.folders import FolderLayout, read_folders
from evaluation.vocabulary import Modality

_CLASSES = {"benign": "benign_mass", "malignant": "malignant_mass", "normal": NO_FINDING}
_MASKS = "mask"


def _word(path: PurePath) -> str:
    """The publisher's file names are the class and a number in brackets."""
    return path.name.partition(" ")[0]


def _is_image(path: PurePath) -> bool:
    return _MASKS not in path.name and not any(part.startswith(_MASKS) for part in path.parts)


def read_busi(source: Path) -> Reading:
    """All images below the folder, without the masks.

    Raises:
        SuiteInvalid: there are no images, or one is of no known class.
    """
    return read_folders(source, FolderLayout(_CLASSES, _word, _is_image, {}))


BUSI = DataSet(
    name="busi",
    title="BUSI",
    modality=Modality.BREAST_ULTRASOUND,
    version="Data in Brief 2020, 104863",
    licence="CC BY 4.0",
    images_may_be_shown=True,
    strata=tuple(_CLASSES.values()),
    read=read_busi,
    notes="The publisher names no patients. Copies of one image count once; in two classes, not at all.",
)

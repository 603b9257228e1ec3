"""NCT-CRC-HE tiles of colorectal tissue, and PathMNIST, which is made from them, exported to folders."""

from pathlib import Path, PurePath

from evaluation.suites.medtec.anchors.candidates import DataSet, Reading
from evaluation.suites.medtec.anchors.folders import FolderLayout, every_image, folder_of, read_folders
from evaluation.vocabulary import Modality

_CODES = {
    "ADI": "adipose",
    "BACK": "background",
    "DEB": "debris",
    "LYM": "lymphocytes",
    "MUC": "mucus",
    "MUS": "smooth_muscle",
    "NORM": "normal_colon_mucosa",
    "STR": "cancer_associated_stroma",
    "TUM": "colorectal_adenocarcinoma",
}
_SPLITS = {"NCT-CRC-HE-100K": "train", "CRC-VAL-HE-7K": "test", "train": "train", "val": "valid", "test": "test"}


def _code(path: PurePath) -> str:
    """The class code, with which the publisher's file names begin."""
    return path.name.partition("-")[0].partition("_")[0]


def read_nct_crc(source: Path) -> Reading:
    """All tiles below the folder.

    Raises:
        SuiteInvalid: there are no tiles, or one is of no known class.
    """
    return read_folders(source, FolderLayout(_CODES, _code, every_image, _SPLITS))


def read_path_mnist(source: Path) -> Reading:
    """All tiles in folders that are called by the class number 0 to 8, in the order of MedMNIST.

    Raises:
        SuiteInvalid: there are no tiles, or one lies in another folder.
    """
    numbers = {str(number): label for number, label in enumerate(_CODES.values())}
    return read_folders(source, FolderLayout(numbers, folder_of, every_image, _SPLITS))


NCT_CRC = DataSet(
    name="nct_crc_he",
    title="NCT-CRC-HE",
    modality=Modality.HISTOPATHOLOGY,
    version="Zenodo 1214456",
    licence="CC BY 4.0",
    images_may_be_shown=True,
    strata=tuple(_CODES.values()),
    read=read_nct_crc,
    notes="The publisher names no patients: each distinct tile is a cluster of its own.",
)
PATH_MNIST = DataSet(
    name="path_mnist",
    title="PathMNIST",
    modality=Modality.HISTOPATHOLOGY,
    version="MedMNIST v2",
    licence="CC BY 4.0",
    images_may_be_shown=True,
    strata=tuple(_CODES.values()),
    read=read_path_mnist,
    notes="Tiles of NCT-CRC-HE at 28 pixels. The publisher names no patients: each distinct tile is a cluster of its own.",
)

"""Brain Tumor MRI (Kaggle, M. Nickparvar): folders Training and Testing with four class folders each."""

from pathlib import Path

from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import DataSet, Reading
from evaluation.suites.medtec.anchors.folders import FolderLayout, every_image, folder_of, read_folders
from evaluation.vocabulary import Modality

_CLASSES = {
    "glioma": "glioma",
    "meningioma": "meningioma",
    "pituitary": "pituitary_tumor",
    "notumor": NO_FINDING,
}
_LAYOUT = FolderLayout(_CLASSES, folder_of, every_image, {"Training": "train", "Testing": "test"})


def read_brain_tumor(source: Path) -> Reading:
    """All images below the folder.

    Raises:
        SuiteInvalid: there are no images, or one lies in a folder that is no class.
    """
    return read_folders(source, _LAYOUT)


BRAIN_TUMOR = DataSet(
    name="brain_tumor_mri",
    title="Brain Tumor MRI",
    modality=Modality.BRAIN_MRI,
    version="Kaggle brain-tumor-mri-dataset",
    licence="CC0 1.0 as stated on Kaggle; put together from several sources",
    images_may_be_shown=False,
    strata=tuple(_CLASSES.values()),
    read=read_brain_tumor,
    notes="The publisher names no patients, and slices of one patient are likely: intervals are narrower than they should be.",
)

"""Under which names other suites list the data sets that MedTEC's tasks are made of.

A board tells by the names of data sets whether a model was trained on the data of a task, and each suite names them as
its own sources do. Listed is what is known to hold the same images, whichever part of them: under another name, in
another size, or within a larger collection.
"""

from collections.abc import Mapping

SAME_IMAGES: Mapping[str, tuple[str, ...]] = {
    "nih_chestxray14": ("ChestMNIST(NIH-ChestXray14)", "NIH-CXR"),
    "chexpert": ("Chexpert_plus",),  # CheXpert's films with their reports
    "covid_chestxray": ("Covid-CXR-CT",),
    "ham10000": ("DermaMNIST(HAM10000)", "HAM10000", "ISIC-2019"),  # whose training images contain it
    "isic2017": ("ISIC-2017",),
    "aptos2019": ("APTOS-2019",),
    "idrid": ("IDRiD-Grading", "IDRiD-Segmentation"),
    "nct_crc_he": ("PathMNIST", "NCT-CRC"),
    "path_mnist": ("PathMNIST", "NCT-CRC"),
    "brain_tumor_mri": ("Brain-Tumor-MRI",),
    "busi": ("BUSI",),
    "pad_ufes_20": ("PAD-UFES-20",),
    "vqa_rad": ("VQA_RAD", "VQA-RAD"),
}
"""By the name of a data set in MedTEC, its names in the MedHEB release and in the retrieval mini suite."""


def names_of(dataset: str) -> tuple[str, ...]:
    """A data set's own name, then those under which other suites list the same images."""
    return (dataset, *SAME_IMAGES.get(dataset, ()))

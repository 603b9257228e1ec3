"""Breast, lung and bowel imaging, and CT slices of the trunk: BUSI, POCUS, mammography, Kvasir-SEG, CT body parts."""

from pathlib import Path

from evaluation.suites.mini.source import RawCase, Source, checked, images_in, read_table
from evaluation.vocabulary import Domain, Split

BUSI = Source(
    "BUSI",
    "open/busi",
    "breast ultrasound image",
    Domain.THORACIC,
    "CC0 1.0; article CC BY 4.0",
    shown=True,
    split=Split.IN_DISTRIBUTION,
    notes="The publisher's files carry no patient ids: each distinct image counts as a patient.",
)
POCUS = Source(
    "POCUS",
    "open/pocus_lung_us",
    "lung ultrasound image",
    Domain.THORACIC,
    "per file; CC BY 2.0 or 4.0",
    shown=True,
    split=Split.HELD_OUT,
)
MAMMOGRAPHY = Source(
    "Mammography",
    "open/mammo_masses",
    "mammogram",
    Domain.THORACIC,
    "CC BY 4.0",
    shown=True,
    split=Split.HELD_OUT,
)
KVASIR = Source(
    "Kvasir-SEG",
    "open/kvasir_seg",
    "colonoscopy image",
    Domain.ABDOMINAL,
    "CC BY 4.0 (HyperKvasir)",
    shown=True,
    split=Split.IN_DISTRIBUTION,
    notes="The publisher's files carry no patient ids: each distinct image counts as a patient.",
)
CT_LEVEL = Source(
    "CT-Level",
    "open/ct_bodypart",
    "axial CT slice",
    Domain.MULTI_ORGAN,
    "MIT; NIH DeepLesion slices free to use with citation",
    shown=True,
    split=Split.IN_DISTRIBUTION,
    notes="The level comes from the publisher's position score, low at the shoulders and high at the pelvis; "
    "slices near a border between levels are left out.",
)

_POCUS_LABELS = {
    "regular": "healthy lung",
    "COVID-19": "viral pneumonia",
    "Viral pneumonia": "viral pneumonia",
    "Bacterial pneumonia": "bacterial pneumonia",
}
# Half-open ranges of the position score, checked by eye against the slices.
_CT_LEVELS = (("chest", -9.5, -4.5), ("abdomen", -2.5, 3.0), ("pelvis", 4.4, 12.0))
# A magnified corner of a chest wall whose score says abdomen.
_CT_MISPLACED = frozenset({"063_score_1.85313_003018_05_5_37"})


def read_busi(raw: Path) -> list[RawCase]:
    """Normal, benign and malignant."""
    labels = {"normal": "no lesion", "benign": "benign lesion", "malignant": "malignant lesion"}
    return checked(
        (
            RawCase(stem, file, label)
            for folder, label in labels.items()
            for stem, file in images_in(raw / BUSI.folder / folder / "images").items()
        ),
        "BUSI",
    )


def busi_mask(case: RawCase) -> Path:
    """The first lesion mask of an image that has a lesion."""
    return case.file.parent.parent / "mask" / f"{case.file.stem}_mask.png"


def read_pocus(raw: Path) -> list[RawCase]:
    """Still images and frames whose licence allows display, with the patient's id."""
    folder = raw / POCUS.folder
    rows = {Path(row["Filename"]).stem: row for row in read_table(folder / "dataset_metadata.csv")}
    files = sorted(path for path in folder.glob("pocus_images*/*/*.jpg") if path.stem in rows)
    return checked(
        (
            RawCase(rows[file.stem]["Patient ID / Name"], file, _POCUS_LABELS[rows[file.stem]["Label"]])
            for file in files
            if rows[file.stem]["License"] in {"CC BY 2.0", "CC BY 4.0"}
        ),
        "POCUS",
    )


def read_mammography(raw: Path) -> list[RawCase]:
    """Benign and malignant masses; the class is in the file name."""
    labels = {"Benign Masses": "benign mass", "Malignant Masses": "malignant mass"}
    images = images_in(raw / MAMMOGRAPHY.folder / "images")
    return checked(
        (RawCase(stem.split("___")[1], file, labels[stem.split("___")[0]]) for stem, file in images.items()),
        "mammography",
    )


def read_kvasir(raw: Path) -> list[RawCase]:
    """Polyps."""
    images = images_in(raw / KVASIR.folder / "images")
    return checked((RawCase(stem, file, "polyp") for stem, file in images.items()), "Kvasir-SEG")


def kvasir_mask(raw: Path, case: RawCase) -> Path:
    """The polyp mask."""
    return raw / KVASIR.folder / "masks" / f"{case.file.stem}.png"


def read_ct_levels(raw: Path) -> list[RawCase]:
    """Slices with a clear level. The file name is rank, score, patient, study, series and slice."""
    cases = []
    for stem, file in images_in(raw / CT_LEVEL.folder / "images").items():
        parts = stem.split("_")
        score, patient = float(parts[2]), parts[3]
        level = next((name for name, low, high in _CT_LEVELS if low <= score < high), None)
        if level is not None and stem not in _CT_MISPLACED:
            cases.append(RawCase(patient, file, level))
    return checked(cases, "CT body parts")

"""Skin: HAM10000 and ISIC 2017 dermoscopy, PAD-UFES-20 clinical photographs."""

from pathlib import Path

from evaluation.suites.mini.source import RawCase, Source, checked, images_in, read_table
from evaluation.vocabulary import Domain, Split

HAM = Source(
    "HAM10000",
    "research/ham10000",
    "dermoscopy image",
    Domain.DERMATOLOGY,
    "CC BY-NC 4.0",
    shown=False,
    split=Split.IN_DISTRIBUTION,
    notes="A lesion counts as a patient: the publisher gives no patient ids.",
)
ISIC = Source(
    "ISIC-2017",
    "open/isic2017",
    "dermoscopy image",
    Domain.DERMATOLOGY,
    "CC0 1.0",
    shown=True,
    split=Split.HELD_OUT,
    notes="One melanoma only is in this part of the data, so the label tasks leave melanoma out.",
)
PAD = Source(
    "PAD-UFES-20",
    "open/pad_ufes20",
    "clinical photograph of the skin",
    Domain.DERMATOLOGY,
    "CC BY 4.0",
    shown=True,
    split=Split.HELD_OUT,
)

_HAM_LABELS = {
    "akiec": "actinic keratosis or intraepithelial carcinoma",
    "bcc": "basal cell carcinoma",
    "bkl": "benign keratosis",
    "df": "dermatofibroma",
    "mel": "melanoma",
    "nv": "melanocytic naevus",
    "vasc": "vascular lesion",
}
_PAD_LABELS = {
    "ACK": "actinic keratosis",
    "BCC": "basal cell carcinoma",
    "MEL": "melanoma",
    "NEV": "melanocytic naevus",
    "SCC": "squamous cell carcinoma",
    "SEK": "seborrhoeic keratosis",
}


def read_ham(raw: Path) -> list[RawCase]:
    """Seven diagnoses; the caption says diagnosis, site, age and sex."""
    folder = raw / HAM.folder
    images = images_in(folder / "images")
    rows = read_table(folder / "HAM10000_metadata.csv")
    return checked((_ham_case(row, images[row["image_id"]]) for row in rows if row["image_id"] in images), "HAM10000")


def read_sites(raw: Path) -> dict[str, str]:
    """The site of each HAM10000 image, by the name of its file without ending, in the publisher's words."""
    return {row["image_id"]: row["localization"] for row in read_table(raw / HAM.folder / "HAM10000_metadata.csv")}


def _ham_case(row: dict[str, str], file: Path) -> RawCase:
    label = _HAM_LABELS[row["dx_code"]]
    age = f"aged {float(row['age']):.0f}" if row["age"] else "of unknown age"
    caption = f"Dermoscopy of a {label} on the {row['localization']}; {row['sex']} patient {age}."
    return RawCase(row["lesion_id"], file, label, caption.replace("on the unknown", "on an unknown site"))


def read_isic(raw: Path) -> list[RawCase]:
    """Seborrhoeic keratosis, melanoma, or (neither) naevus."""
    folder = raw / ISIC.folder
    images = images_in(folder / "images")
    rows = {row["image_id"]: row for row in read_table(folder / "ground_truth.csv")}
    return checked(
        (RawCase(stem, file, _isic_label(rows[stem])) for stem, file in images.items() if stem in rows), "ISIC 2017"
    )


def _isic_label(row: dict[str, str]) -> str:
    if float(row["melanoma"]):
        return "melanoma"
    return "seborrhoeic keratosis" if float(row["seborrheic_keratosis"]) else "melanocytic naevus"


def isic_mask(raw: Path, case: RawCase) -> Path:
    """The expert's lesion mask."""
    return raw / ISIC.folder / "masks" / f"{case.file.stem}_segmentation.png"


def read_pad(raw: Path) -> list[RawCase]:
    """Six diagnoses with the patient's id."""
    folder = raw / PAD.folder
    images = images_in(folder / "images")
    rows = {Path(row["img_id"]).stem: row for row in read_table(folder / "metadata.csv")}
    return checked(
        (
            RawCase(rows[stem]["patient_id"], file, _PAD_LABELS[rows[stem]["diagnostic"]])
            for stem, file in images.items()
            if stem in rows
        ),
        "PAD-UFES-20",
    )

"""Colour fundus photographs: IDRiD grading and segmentation."""

from pathlib import Path

from evaluation.suites.mini.source import RawCase, Source, checked, images_in, read_table
from evaluation.vocabulary import Domain, Split

GRADING = Source(
    "IDRiD-Grading",
    "open/fundus_idrid/grading",
    "colour fundus photograph",
    Domain.OPHTHALMOLOGY,
    "CC BY 4.0",
    shown=True,
    split=Split.IN_DISTRIBUTION,
    notes="The publisher's files carry no patient ids: each distinct image counts as a patient.",
)
SEGMENTATION = Source(
    "IDRiD-Segmentation",
    "open/fundus_idrid/segmentation",
    "colour fundus photograph",
    Domain.OPHTHALMOLOGY,
    "CC BY 4.0",
    shown=True,
    split=Split.HELD_OUT,
)

GRADES = (
    "no diabetic retinopathy",
    "mild non-proliferative diabetic retinopathy",
    "moderate non-proliferative diabetic retinopathy",
    "severe non-proliferative diabetic retinopathy",
    "proliferative diabetic retinopathy",
)
OEDEMA_RISKS = ("no risk", "moderate risk", "high risk")


def read_grading(raw: Path) -> list[tuple[RawCase, str]]:
    """Each image with its retinopathy grade as label, and the risk of macular oedema. Files carry the split's name."""
    folder = raw / GRADING.folder
    images = images_in(folder / "images")
    risks = {}
    cases = []
    for row in read_table(folder / "labels.csv"):
        stem = f"{row['split']}_{row['Image name']}"
        if stem in images:
            risks[stem] = OEDEMA_RISKS[int(row["Risk of macular edema"])]
            cases.append(RawCase(stem, images[stem], GRADES[int(row["Retinopathy grade"])]))
    return [(case, risks[case.file.stem]) for case in checked(cases, "IDRiD grading")]


def read_segmentation(raw: Path) -> list[RawCase]:
    """Images with an optic disc mask."""
    images = images_in(raw / SEGMENTATION.folder / "images")
    cases = (RawCase(stem, file, "optic disc") for stem, file in images.items())
    return [case for case in checked(cases, "IDRiD segmentation") if disc_mask(raw, case).is_file()]


def disc_mask(raw: Path, case: RawCase) -> Path:
    """The optic disc mask of an image."""
    return raw / SEGMENTATION.folder / "masks" / f"{case.file.stem}_OD.png"

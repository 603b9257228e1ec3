"""Chest radiographs: Kermany, NIH ChestX-ray14, Hannover, and the research collection with CT of the same patients."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from evaluation.suites.mini.source import RawCase, Source, checked, images_in, read_table
from evaluation.vocabulary import Domain, Split

KERMANY = Source(
    "Kermany",
    "open/cxr_kermany",
    "chest radiograph",
    Domain.THORACIC,
    "CC BY 4.0",
    shown=True,
    split=Split.IN_DISTRIBUTION,
    notes="The publisher's files carry no patient ids: each distinct image counts as a patient.",
)
NIH = Source(
    "NIH-CXR",
    "open/cxr_nih100",
    "chest radiograph",
    Domain.THORACIC,
    "NIH Clinical Center: free use with credit",
    shown=True,
    split=Split.HELD_OUT,
)
HANNOVER = Source(
    "Hannover-CXR",
    "open/cxr_hannover",
    "chest radiograph",
    Domain.THORACIC,
    "CC BY 3.0",
    shown=True,
    split=Split.HELD_OUT,
)
COVID = Source(
    "Covid-CXR-CT",
    "research/covid_chestxray",
    "chest examination",
    Domain.THORACIC,
    "per image; mostly CC BY-NC-SA",
    shown=False,
    split=Split.HELD_OUT,
    notes="Few patients: enough to run the path, not for claims.",
)

NO_FINDING = "No Finding"
VIEWS = {"PA": "posteroanterior", "AP": "anteroposterior"}
SEXES = {"M": "man", "F": "woman"}


def read_kermany(raw: Path) -> list[RawCase]:
    """Normal and pneumonia."""
    folder = raw / KERMANY.folder
    images = images_in(folder / "img")
    labels = {"0": "normal chest", "1": "pneumonia"}
    rows = read_table(folder / "data_1.csv")
    named = {Path(row["image_path"]).stem: labels[row["target"]] for row in rows}
    return checked((RawCase(stem, file, named[stem]) for stem, file in images.items() if stem in named), "Kermany")


def read_nih(raw: Path) -> list[tuple[RawCase, dict[str, str]]]:
    """Every image with its row; the label is the finding, or empty where the image has several findings."""
    folder = raw / NIH.folder
    images = images_in(folder / "images")
    rows = {Path(row["Image Index"]).stem: row for row in read_table(folder / "Data_Entry_2017.csv")}
    cases = checked((_nih_case(rows[stem], file) for stem, file in images.items() if stem in rows), "NIH")
    return [(case, rows[case.file.stem]) for case in cases]


def _nih_case(row: dict[str, str], file: Path) -> RawCase:
    findings = [finding.replace("_", " ").lower() for finding in row["Finding Labels"].split("|")]
    view, sex = VIEWS[row["View Position"]], SEXES[row["Patient Gender"]]
    caption = f"Chest radiograph, {view}, of a {sex} aged {row['Patient Age']}. Findings: {', '.join(findings)}."
    return RawCase(row["Patient ID"], file, findings[0] if len(findings) == 1 else "", caption)


@dataclass(frozen=True, slots=True)
class FollowedImage:
    """One film of a followed-up patient; `day` counts from admission (negative: before), as published."""

    case: RawCase
    day: float


def read_hannover(raw: Path) -> dict[str, list[FollowedImage]]:
    """The films of each patient by day. Films without a day are left out: their order is not known."""
    folder = raw / HANNOVER.folder
    images = images_in(folder / "png")
    patients: dict[str, list[FollowedImage]] = defaultdict(list)
    for row in read_table(folder / "data.csv"):
        file = images.get(row["image_id"])
        if file is not None and row["admission_offset"]:
            # The offset counts from the film to the admission: a later film has a smaller one.
            day = -float(row["admission_offset"])
            patients[row["patient_id"]].append(FollowedImage(RawCase(row["patient_id"], file, ""), day))
    ordered = {
        patient: sorted(films, key=lambda film: (film.day, film.case.file.name)) for patient, films in patients.items()
    }
    return dict(sorted(ordered.items()))


@dataclass(frozen=True, slots=True)
class CovidImage:
    """One image of the research collection; `label` of the case is its modality, `caption` the clinical notes."""

    case: RawCase
    is_radiograph: bool


def read_covid(raw: Path) -> dict[str, list[CovidImage]]:
    """The images of each patient, without those that are also in the Hannover collection."""
    folder = raw / COVID.folder
    images = images_in(folder / "images_open") | images_in(folder / "images_nc")
    elsewhere = set(images_in(raw / HANNOVER.folder / "png"))
    patients: dict[str, list[CovidImage]] = defaultdict(list)
    for row in read_table(folder / "metadata.csv"):
        stem = Path(row["filename"]).stem
        if stem in images and stem not in elsewhere:
            notes = " ".join(row["clinical_notes"].split())
            case = RawCase(row["patientid"], images[stem], row["modality"], notes)
            patients[row["patientid"]].append(CovidImage(case, row["modality"] == "X-ray"))
    return dict(sorted(patients.items()))

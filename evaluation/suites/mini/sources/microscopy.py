"""Microscopy: histology and cytology with the class in the file name, and blood smears with boxes."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from evaluation.errors import SuiteInvalid
from evaluation.suites.mini.source import RawCase, Source, checked, images_in
from evaluation.vocabulary import Domain, Split


def _source(dataset: str, folder: str, title: str, licence: str, split: Split, **more: str) -> Source:
    domain = Domain.MUSCULOSKELETAL if dataset == "Osteosarcoma" else Domain.MICROSCOPY
    return Source(
        dataset, f"open/{folder}", title, domain, licence, shown=True, split=split, notes=more.get("notes", "")
    )


_NO_PATIENTS = "The publisher's files carry no patient ids: each distinct image counts as a patient."

ORAL = _source("Oral-Histology", "histo_oscc", "oral histology", "CC0 1.0", Split.IN_DISTRIBUTION, notes=_NO_PATIENTS)
COLON = _source("NCT-CRC", "histo_nct_crc", "colorectal histology patch", "CC BY 4.0", Split.HELD_OUT)
BREAST = _source("BreaKHis", "histo_breakhis", "breast histology", "CC BY 4.0", Split.HELD_OUT)
BONE = _source(
    "Osteosarcoma",
    "histo_osteosarcoma",
    "bone tumour histology",
    "CC BY 3.0",
    Split.HELD_OUT,
    notes="Counted as musculoskeletal by the organ, although it is microscopy.",
)
BLOOD_CELLS = _source("PBC", "cyto_pbc", "blood cell", "CC BY 4.0", Split.IN_DISTRIBUTION, notes=_NO_PATIENTS)
MALARIA = _source("Malaria", "cyto_malaria", "blood cell", "public domain (US NLM)", Split.HELD_OUT)
BCCD = _source("BCCD", "bccd", "blood smear", "MIT", Split.IN_DISTRIBUTION, notes=_NO_PATIENTS)

_COLON_LABELS = {
    "ADI": "adipose tissue",
    "LYM": "lymphocytes",
    "MUC": "mucus",
    "MUS": "smooth muscle",
    "NORM": "normal colon mucosa",
    "STR": "tumour stroma",
    "TUM": "tumour epithelium",
}
_BONE_LABELS = {
    "Non-Tumor": "no tumour",
    "Non-Viable-Tumor": "non-viable, necrotic tumour",
    "Viable": "viable tumour",
}
_CELL_KINDS = {"RBC": "red blood cell", "WBC": "white blood cell", "Platelets": "platelet"}


def _whole_name(name: str) -> str:
    return name


def _breast_patient(name: str) -> str:
    """`SOB_B_A-14-22549AB-400-007_101` -> `14-22549`: year and slide without its part letters."""
    year, slide = name.split("-")[1:3]
    return f"{year}-{slide.rstrip('ABCDEFG')}"


def _bone_case(name: str) -> str:
    """`Case-3-A15-2939-11262_112` -> `Case-3`; `P9-B12-...` -> `P9`."""
    parts = name.split("-")
    return "-".join(parts[:2]) if parts[0] == "Case" else parts[0]


def _named(
    raw: Path, source: Source, labels: dict[str, str] | None, patient: Callable[[str], str] = _whole_name
) -> list[RawCase]:
    """Files called `<class>___<original name>`."""
    cases = []
    for stem, file in images_in(raw / source.folder / "images").items():
        kind, _, name = stem.partition("___")
        cases.append(RawCase(patient(name), file, labels[kind] if labels else kind))
    return checked(cases, source.dataset)


def read_oral(raw: Path) -> list[RawCase]:
    """`OSCC_400x_357`, `Normal_100x_50`."""
    labels = {"OSCC": "squamous cell carcinoma", "Normal": "normal epithelium"}
    images = images_in(raw / ORAL.folder / "images")
    return checked((RawCase(stem, file, labels[stem.split("_")[0]]) for stem, file in images.items()), "oral histology")


def read_colon(raw: Path) -> list[RawCase]:
    """Seven kinds of tissue."""
    return _named(raw, COLON, _COLON_LABELS)


def read_breast(raw: Path) -> list[RawCase]:
    """Benign and malignant; the patient is in the name."""
    return _named(raw, BREAST, {"benign": "benign tumour", "malignant": "malignant tumour"}, _breast_patient)


def read_bone(raw: Path) -> list[RawCase]:
    """No tumour, necrotic tumour, viable tumour; the case is in the name."""
    return _named(raw, BONE, _BONE_LABELS, _bone_case)


def read_blood_cells(raw: Path) -> list[RawCase]:
    """Eight kinds of cell."""
    cases = _named(raw, BLOOD_CELLS, None)
    words = {"ig": "immature granulocyte"}
    return [RawCase(case.patient, case.file, words.get(case.label, case.label)) for case in cases]


def read_malaria(raw: Path) -> list[RawCase]:
    """Parasitised and uninfected; the patient stands before `ThinF`."""
    labels = {"Parasitized": "red cell with malaria parasites", "Uninfected": "uninfected red cell"}
    return _named(raw, MALARIA, labels, lambda name: name.split("_")[0].removesuffix("ThinF").removesuffix("thin"))


@dataclass(frozen=True, slots=True)
class MarkedCell:
    """One box of a blood smear: what it marks, and left, top, right, bottom in the original's pixels."""

    kind: str
    box: tuple[int, int, int, int]


def read_bccd(raw: Path) -> list[tuple[RawCase, tuple[MarkedCell, ...]]]:
    """Blood smears with their boxes (VOC XML), without boxes that touch the edge of the image."""
    folder = raw / BCCD.folder / "BCCD"
    images = images_in(folder / "JPEGImages")
    cases = checked((RawCase(stem, file, "blood smear") for stem, file in images.items()), "BCCD")
    return [(case, _cells(folder / "Annotations" / f"{case.file.stem}.xml")) for case in cases]


def _cells(path: Path) -> tuple[MarkedCell, ...]:
    try:
        root = ET.parse(path).getroot()  # noqa: S314 -- a file of the installed data set; expat refuses entity bombs
        found = []
        for item in root.iter("object"):
            box = item.find("bndbox")
            if box is None or item.findtext("truncated") == "1":
                continue
            left, top, right, bottom = (int(box.findtext(side) or "") for side in ("xmin", "ymin", "xmax", "ymax"))
            if right > left and bottom > top:
                found.append(MarkedCell(_CELL_KINDS[item.findtext("name") or ""], (left, top, right, bottom)))
    except (OSError, ET.ParseError, ValueError, KeyError) as error:
        raise SuiteInvalid(f"{path} is not a VOC annotation of known cells: {error}") from error
    return tuple(found)

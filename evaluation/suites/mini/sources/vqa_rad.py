"""VQA-RAD: questions on radiology images of head, chest and abdomen."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.suites.mini.source import RawCase, Source, checked, images_in
from evaluation.vocabulary import Domain, Split

VQA_RAD = Source(
    "VQA-RAD",
    "open/vqa_rad",
    "radiology image",
    Domain.MULTI_ORGAN,
    "CC0 1.0",
    shown=True,
    split=Split.IN_DISTRIBUTION,
)
ORGANS = {"CHEST": "chest", "ABD": "abdomen", "HEAD": "head"}
_TABLE = "VQA_RAD Dataset Public.json"
_BONE_WORDS = re.compile(r"\b(bon(e|es|y)|ribs?|fractures?|spine|vertebra\w*|skull|clavicles?|scapula\w*|skeletal)\b")


@dataclass(frozen=True, slots=True)
class RadQuestion:
    """One question; `kind` is the publisher's question type, `closed` its answer type. The case's label is the organ."""

    case: RawCase
    question: str
    answer: str
    kind: str
    closed: bool

    @property
    def about_bones(self) -> bool:
        """Whether question or answer names bones."""
        return _BONE_WORDS.search(f"{self.question} {self.answer}".lower()) is not None


def read_vqa_rad(raw: Path) -> list[RadQuestion]:
    """Questions in the publisher's order, each question on an image once. The MedPix case counts as the patient."""
    folder = raw / VQA_RAD.folder
    path = folder / _TABLE
    if not path.is_file():
        raise DataMissing(f"{path} does not exist; put the publisher's file there")
    rows = json.loads(path.read_text(encoding="utf-8"))
    images = images_in(folder / "VQA_RAD Image Folder")
    cases = {
        Path(row["image_name"]).stem: RawCase(
            row["image_case_url"], images[Path(row["image_name"]).stem], ORGANS[row["image_organ"]]
        )
        for row in rows
        if Path(row["image_name"]).stem in images
    }
    kept = {case.file.stem: case for case in checked(cases.values(), "VQA-RAD")}
    questions: dict[tuple[str, str], RadQuestion] = {}
    for row in rows:
        stem = Path(row["image_name"]).stem
        text = " ".join(str(row["question"]).split())
        if stem in kept:
            question = RadQuestion(
                kept[stem],
                text,
                " ".join(str(row["answer"]).split()),
                row["question_type"].split(",")[0],
                row["answer_type"].strip() == "CLOSED",
            )
            questions.setdefault((stem, text.lower()), question)
    return list(questions.values())

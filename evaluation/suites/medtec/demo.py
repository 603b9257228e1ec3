"""Builds the demo suite: MedTEC on drawn phantoms, which needs no data and no network."""

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from evaluation.manifest import SCHEMA_VERSION
from evaluation.probe_types import NO_FINDING, ProbeSuiteSpec
from evaluation.suites.building import staged
from evaluation.suites.demo.canvas import MACHINE_A
from evaluation.suites.demo.modalities import DERMOSCOPY, RADIOGRAPH
from evaluation.suites.demo.modalities import Modality as Phantom
from evaluation.suites.medtec.anchors.building import build_anchor_set
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.sites import HAM10000_SITES
from evaluation.suites.medtec.protocols import label_matrix_path, read_label_matrix
from evaluation.suites.medtec.question_rules import statement_pair
from evaluation.suites.medtec.questions import ClosedQuestion, question_path, write_question_file
from evaluation.suites.medtec.suite import write_probe_suite
from evaluation.suites.pairing import generator
from evaluation.vocabulary import Modality

SLUG = "medtec-demo"

_LICENCE = "drawn by this project; no patient data"
_NOTES = "Synthetic phantoms: the scores say nothing about clinical use."
_SITES = tuple(key for key in ("back", "chest", "face", "lower_extremity") if key in HAM10000_SITES.values())
_CHEST_LABELS = {
    "no finding": NO_FINDING,
    "lung nodule": "nodule",
    "pleural effusion": "pleural_effusion",
    "pneumothorax": "pneumothorax",
    "enlarged heart": "cardiomegaly",
}
_SKIN_LABELS = {
    "melanocytic naevus": "melanocytic_nevus",
    "melanoma": "melanoma",
    "seborrhoeic keratosis": "seborrheic_keratosis",
    "vascular lesion": "vascular_lesion",
}
_QUESTIONS = {
    "nodule": "Is there a lung nodule?",
    "pleural_effusion": "Is there a pleural effusion?",
    "pneumothorax": "Is there a pneumothorax?",
    "cardiomegaly": "Is the heart enlarged?",
}

README = """# MedTEC demo suite (synthetic)

Every image, label and text in this folder was made by a program, age, sex and site of the patients too. No patient is
shown, and a score on this suite says nothing about clinical use. It exists so that the board can be seen at work on a
machine without data.
"""


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A kind of phantom with the label of each of its findings; `sites` are the regions that patients take turns in."""

    name: str
    phantom: Phantom
    modality: Modality
    labels: Mapping[str, str]
    per_label: int
    sites: tuple[str, ...]
    protocols: bool

    @property
    def data_set(self) -> DataSet:
        return DataSet(
            name=self.name,
            title=f"Drawn phantoms, {self.phantom.title}",
            modality=self.modality,
            version="1",
            licence=_LICENCE,
            images_may_be_shown=True,
            strata=tuple(self.labels.values()),
            read=partial(_draw, self),
            notes=_NOTES,
            per_label=self.per_label,
            multi_label=self.protocols,
            captioned=self.protocols,
        )


_CHEST = _Drawing("demo_radiograph", RADIOGRAPH, Modality.CHEST_RADIOGRAPH, _CHEST_LABELS, 8, ("",), protocols=True)
_SKIN = _Drawing("demo_dermoscopy", DERMOSCOPY, Modality.DERMOSCOPY, _SKIN_LABELS, 10, _SITES, protocols=False)


def build_medtec_demo(out: Path) -> ProbeSuiteSpec:
    """Draw the suite into `out`, which must not exist or be empty.

    Raises:
        SuiteInvalid: `out` holds files.
    """
    with staged(out) as folder, tempfile.TemporaryDirectory() as scratch:
        for drawing in (_CHEST, _SKIN):
            source = Path(scratch) / drawing.name
            source.mkdir()
            build_anchor_set(drawing.data_set, source=source, folder=folder)
        _write_questions(folder)
        (folder / "README.md").write_text(README, encoding="utf-8")
        return write_probe_suite(
            folder, slug=SLUG, version="1", title="MedTEC demo (synthetic phantoms)", synthetic=True
        )


def _draw(drawing: _Drawing, source: Path) -> Reading:
    """Draw the patients into `source`; findings take turns."""
    findings = list(drawing.labels)
    candidates = []
    for number in range(drawing.per_label * len(findings)):
        finding, name = findings[number % len(findings)], f"patient-{number:03d}"
        rng: np.random.Generator = generator(f"{drawing.name}/{name}")
        picture = drawing.phantom.draw(finding, rng, MACHINE_A)
        file = source / f"{name}.png"
        Image.fromarray(picture.pixels).save(file, compress_level=6)
        candidates.append(
            Candidate(
                where=f"drawn {drawing.name} {name}",
                name=name,
                file=file,
                cluster=name,
                labels=(drawing.labels[finding],),
                label_source="the finding that was drawn",
                region=drawing.sites[number // len(findings) % len(drawing.sites)],
                sex=("female", "male")[int(rng.integers(2))],
                age=float(rng.integers(20, 90)),
                caption=picture.caption,
            )
        )
    return Reading(tuple(candidates), ())


def _write_questions(folder: Path) -> None:
    """Of each chest phantom, one question about its finding and one about the next finding in the list."""
    matrix = read_label_matrix(label_matrix_path(folder, _CHEST.name))
    questions = []
    for number, path in enumerate(matrix.paths):
        present = [label for label, shown in zip(matrix.labels, matrix.present[number], strict=True) if shown]
        absent = [label for label in matrix.labels if label not in present]
        asked = [(label, "yes") for label in present] + [(absent[number % len(absent)], "no")]
        questions += [_question(path, matrix.clusters[number], label, answer) for label, answer in asked]
    body = {
        "schema_version": SCHEMA_VERSION,
        "dataset": _CHEST.name,
        "title": "Drawn phantoms",
        "licence": _LICENCE,
        "images_may_be_shown": True,
        "rows": len(questions),
        "repeats": 0,
        "open": 0,
        "questions": [asdict(question) for question in questions],
    }
    write_question_file(question_path(folder, _CHEST.name), body)


def _question(path: str, cluster: str, label: str, answer: str) -> ClosedQuestion:
    text = _QUESTIONS[label]
    pair = statement_pair(text)
    if pair is None:
        raise ValueError(f"no rule fits {text!r}")
    return ClosedQuestion(path, cluster, text, answer, pair.rule, pair.affirmative, pair.negative)

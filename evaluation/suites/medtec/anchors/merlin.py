"""Merlin abdominal CT: one table of thirty findings, each 1 (present), 0 (negated) or -1 (not mentioned)."""

from collections import Counter
from pathlib import Path

from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet, Reading
from evaluation.suites.medtec.anchors.images import VOLUME_ENDINGS, ImageFolder
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.suites.medtec.anchors.volumes import SOFT_TISSUE, middle_slice
from evaluation.vocabulary import Modality

_TABLE = "zero_shot_findings_disease_cls.csv"
_ID = "study id"
_CLASSES = ("hepatic_steatosis", "renal_cyst", "gallstones", "ascites", "pleural_effusion")
FINDINGS = (
    "submucosal_edema",
    "renal_hypodensities",
    "aortic_valve_calcification",
    "coronary_calcification",
    "thrombosis",
    "metastatic_disease",
    "pancreatic_atrophy",
    "renal_cyst",
    "osteopenia",
    "surgically_absent_gallbladder",
    "atelectasis",
    "abdominal_aortic_aneurysm",
    "anasarca",
    "hiatal_hernia",
    "lymphadenopathy",
    "prostatomegaly",
    "biliary_ductal_dilation",
    "cardiomegaly",
    "splenomegaly",
    "hepatomegaly",
    "atherosclerosis",
    "ascites",
    "pleural_effusion",
    "hepatic_steatosis",
    "appendicitis",
    "gallstones",
    "hydronephrosis",
    "bowel_obstruction",
    "free_air",
    "fracture",
)
_MARKS = {"1": 1, "1.0": 1, "0": 0, "0.0": 0, "-1": -1, "-1.0": -1}
_NOT_MENTIONED = -1


def read_merlin(source: Path) -> Reading:
    """All scans of the table. One label means exactly one 1 among all thirty findings, no finding means none.

    `counts` has for each class how many single-label scans are left when those are taken out in which another class is
    not mentioned, and may hide.

    Raises:
        SuiteInvalid: table or volumes are not as the publisher gives them; the message names file and row.
    """
    table = source / _TABLE
    rows = read_rows(table, (_ID, *FINDINGS))
    volumes = ImageFolder(source, VOLUME_ENDINGS)
    strict: Counter[str] = Counter()
    candidates = []
    for row in rows:
        marks = {finding: row.word(finding, _MARKS) for finding in FINDINGS}
        labels = tuple(finding for finding, mark in marks.items() if mark == 1) or (NO_FINDING,)
        candidates.append(_candidate(row, labels, volumes))
        others = [mark for finding, mark in marks.items() if finding in _CLASSES and finding not in labels]
        if len(labels) == 1 and labels[0] in MERLIN.strata and _NOT_MENTIONED not in others:
            strict[f"strict_{labels[0]}"] += 1
    return Reading(tuple(candidates), (table,), strict)


def _candidate(row: Row, labels: tuple[str, ...], volumes: ImageFolder) -> Candidate:
    study = row.filled(_ID)
    file = volumes.of(row, study)
    return Candidate(
        where=row.where,
        name=study,
        file=file,
        cluster=f"study-{study}",
        labels=labels,
        label_source="mined from the radiology report by the publisher",
        slice_index=middle_slice(file) if len(labels) == 1 else None,
        window=SOFT_TISSUE,
    )


MERLIN = DataSet(
    name="merlin",
    title="Merlin abdominal CT",
    modality=Modality.ABDOMINAL_CT,
    version="Stanford AIMI",
    licence="Stanford University Dataset Research Use Agreement",
    images_may_be_shown=False,
    strata=(*_CLASSES, NO_FINDING),
    read=read_merlin,
    notes=(
        "Models for plane images are given the middle axial slice in the soft tissue window. The table names no patients: "
        "each scan is a cluster, though a few patients were scanned twice. A finding that is not mentioned may be present; "
        "the header counts the scans that are left when that is excluded for the other classes."
    ),
)

"""Tasks on hippocampus volumes, from the sizes of the labelled parts."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.suites.building import ImageWriter
from evaluation.suites.mini.drafting import ANSWER, FIND_IMAGE, MATCH_LABEL, NAME_LABEL, SAME_PATIENT, draft_task
from evaluation.suites.mini.library import labels_of
from evaluation.suites.mini.source import Source
from evaluation.suites.mini.sources.hippocampus import (
    DATASET,
    IMAGE_ROOT,
    LICENCE,
    HippocampusVolume,
    read_hippocampus,
)
from evaluation.suites.pairing import (
    Case,
    Question,
    answer_questions,
    find_label,
    generator,
    link_evidence,
    match_label,
    name_label,
)
from evaluation.suites.records import Record, TaskDraft
from evaluation.vocabulary import Domain, Family, Parser, PoolScope, Split

SOURCE = Source(
    DATASET,
    "open/mri_hippocampus_3d",
    "MR volume of the hippocampus",
    Domain.NEURO,
    LICENCE,
    shown=True,
    split=Split.HELD_OUT,
    notes="Labels come from the sizes of the publisher's anterior and posterior label volumes.",
)
SIZE_QUESTION = "How large is this hippocampus?"
PART_QUESTION = "Which part of this hippocampus is larger?"
SIZES = ("small hippocampus", "large hippocampus")
PARTS = ("the anterior part", "the posterior part")
SIZE_PHRASE = "MR volume of a {label}"
DISTRACTORS = 9
SLICE_STEP = 2


@dataclass(frozen=True, slots=True)
class Scan:
    """One volume in the suite: by size (empty in the middle third), larger part, and its projection from the side."""

    volume: Case
    part: str
    projection: Case


def volume_tasks(writer: ImageWriter, raw: Path) -> list[TaskDraft]:
    """Size of the volume (to label, to volume, from text), larger part, projection to volume."""
    volumes = read_hippocampus(raw)
    low, high = np.quantile([volume.size for volume in volumes], (1 / 3, 2 / 3))
    scans = [_save(writer, volume, _size_label(volume, low, high)) for volume in volumes]
    sized = [scan.volume for scan in scans if scan.volume.label]
    return [
        _task(
            "Hippocampus_size",
            "Size of a hippocampus",
            Family.IMAGE_TO_LABEL,
            Parser.VOLUME_I2T,
            name_label(sized, instruction=NAME_LABEL, question=SIZE_QUESTION, labels=labels_of(sized)),
        ),
        _task(
            "Hippocampus_i2i",
            "Another hippocampus of the same size",
            Family.IMAGE_TO_IMAGE,
            Parser.VOLUME_I2I,
            match_label(
                sized, sized, instruction=MATCH_LABEL, distractors=DISTRACTORS, rng=generator("Hippocampus_i2i")
            ),
        ),
        _task(
            "Hippocampus_t2i",
            "Hippocampus of a named size",
            Family.TEXT_TO_IMAGE,
            Parser.VOLUME_T2I,
            find_label(
                sized,
                instruction=FIND_IMAGE,
                phrase=SIZE_PHRASE,
                distractors=DISTRACTORS,
                rng=generator("Hippocampus_t2i"),
            ),
        ),
        _task(
            "Hippocampus_part",
            "Larger part of a hippocampus",
            Family.QUESTION_ANSWERING,
            Parser.VOLUME_I2T,
            answer_questions([_part_question(scan) for scan in scans], instruction=ANSWER),
        ),
        _bridge_task(scans),
    ]


def _size_label(volume: HippocampusVolume, low: float, high: float) -> str:
    if low < volume.size < high:
        return ""
    return SIZES[0] if volume.size <= low else SIZES[1]


def _save(writer: ImageWriter, volume: HippocampusVolume, label: str) -> Scan:
    """Save every second axial slice from foot to head, front up, and the mean over the right-left axis."""
    patient = f"{DATASET}/{volume.patient}"
    slices = tuple(
        writer.save(IMAGE_ROOT, f"{volume.patient}/{height:02d}.png", np.rot90(volume.grey[:, :, height]))
        for height in range(0, volume.grey.shape[2], SLICE_STEP)
    )
    flat = np.round(volume.grey.mean(axis=0)).astype(np.uint8)
    projection = writer.save(IMAGE_ROOT, f"projections/{volume.patient}.png", np.rot90(flat))
    part = PARTS[0] if volume.anterior > volume.posterior else PARTS[1]
    return Scan(Case(patient, slices, label, is_volume=True), part, Case(patient, (projection,), label))


def _task(name: str, title: str, family: Family, parser: Parser, records: tuple[Record, ...]) -> TaskDraft:
    return draft_task(
        name,
        title,
        source=SOURCE,
        family=family,
        parser=parser,
        rule="the lower or upper third by size, or the larger part, as measured on the publisher's label volume",
        records=records,
        image_root=IMAGE_ROOT,
    )


def _part_question(scan: Scan) -> Question:
    return Question(PART_QUESTION, scan.part, tuple(part for part in PARTS if part != scan.part), scan.volume)


def _bridge_task(scans: list[Scan]) -> TaskDraft:
    return draft_task(
        "Hippocampus_projection_to_volume",
        "Volume of a projection image",
        source=SOURCE,
        family=Family.MODALITY_BRIDGING,
        parser=Parser.VOLUME_I2I,
        rule="the volume of which the image is the mean over the right-left axis",
        records=link_evidence(
            [(scan.projection.evidence, scan.volume.evidence) for scan in scans], instruction=SAME_PATIENT
        ),
        pool=PoolScope.GLOBAL,
        same_patient=True,
        image_root=IMAGE_ROOT,
    )

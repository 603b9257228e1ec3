"""Copies the images of a source into the suite, and splits its patients into train and test."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from evaluation.errors import SuiteInvalid
from evaluation.suites.building import ImageWriter
from evaluation.suites.mini.source import RawCase, Source
from evaluation.suites.pairing import Case

MAX_QUERIES = 100
TRAIN_FRACTION = 0.5
CROP_MARGIN = 0.1
SMALLEST_CROP = 16

Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Parts:
    """A source's cases by side of the split; no patient is on both."""

    train: tuple[Case, ...]
    test: tuple[Case, ...]


def copy_case(writer: ImageWriter, source: Source, raw: RawCase) -> Case:
    """Copy the image's bytes as they are."""
    name = writer.copy(source.image_root, raw.file.name, raw.file)
    return Case(f"{source.dataset}/{raw.patient}", (name,), raw.label, raw.caption)


def copy_parts(
    writer: ImageWriter, source: Source, cases: Sequence[RawCase], only_test: frozenset[str] = frozenset()
) -> Parts:
    """Copy all cases and split them as `trained_cases` says."""
    trained = set(trained_cases(source, cases, only_test))
    copied = [(raw in trained, copy_case(writer, source, raw)) for raw in cases]
    return Parts(
        tuple(case for is_trained, case in copied if is_trained),
        tuple(case for is_trained, case in copied if not is_trained),
    )


def trained_cases(source: Source, cases: Sequence[RawCase], only_test: frozenset[str]) -> list[RawCase]:
    """The cases of the train split: none of a held-out source, and none of the patients named in `only_test`."""
    if source.split == "held_out":
        return []
    trained = train_patients(source, cases) - only_test
    return [case for case in cases if case.patient in trained]


def train_patients(source: Source, cases: Iterable[RawCase]) -> frozenset[str]:
    """Half of the patients of each label, chosen by the hash of data set and name; a patient counts for its first label."""
    labels: dict[str, str] = {}
    for case in cases:
        labels.setdefault(case.patient, case.label)
    members: dict[str, list[str]] = defaultdict(list)
    for patient, label in labels.items():
        members[label].append(patient)
    chosen: set[str] = set()
    for patients in members.values():
        ordered = sorted(patients, key=lambda patient: _place(source, patient))
        chosen.update(ordered[: round(len(ordered) * TRAIN_FRACTION)])
    return frozenset(chosen)


def _place(source: Source, patient: str) -> str:
    return hashlib.sha256(f"{source.dataset}/{patient}".encode()).hexdigest()


def with_enough(cases: Sequence[Case], smallest: int = 2) -> list[Case]:
    """The cases whose label has at least `smallest` patients."""
    patients: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        patients[case.label].add(case.patient)
    return [case for case in cases if len(patients[case.label]) >= smallest]


def labels_of(cases: Iterable[Case]) -> tuple[str, ...]:
    """The labels that occur, sorted."""
    return tuple(sorted({case.label for case in cases}))


def mask_box(mask: Path) -> Box:
    """Left, top, right, bottom of what a mask marks.

    Raises:
        SuiteInvalid: the mask marks nothing.
    """
    with Image.open(mask) as image:
        box = image.convert("L").point(lambda value: 255 if value else 0).getbbox()
    if box is None:
        raise SuiteInvalid(f"{mask} marks nothing; leave the image out")
    return box


def save_crop(writer: ImageWriter, source: Source, raw: RawCase, box: Box, name: str) -> str:
    """Save the part of an image in `box`, with a margin of a tenth of its longer side, as PNG."""
    with Image.open(raw.file) as image:
        pixels = np.asarray(image.convert("RGB"))
    left, top, right, bottom = box
    margin = max(round(CROP_MARGIN * max(right - left, bottom - top)), (SMALLEST_CROP - (right - left)) // 2, 0)
    crop = pixels[max(top - margin, 0) : bottom + margin, max(left - margin, 0) : right + margin]
    return writer.save(source.image_root, name, crop)

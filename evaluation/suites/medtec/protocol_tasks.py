"""Makes the tasks of the protocols that probing is compared with: closed questions, captions and labels.

Equal images are one input, whatever files they are; so are equal texts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.errors import SuiteInvalid
from evaluation.manifest import canonical_sha256
from evaluation.probe_tasks import BoolMatrix, CaptionTask, LabelTask, QuestionTask
from evaluation.probe_types import ProbeTaskSpec
from evaluation.suites.medtec.input_numbers import InputNumbers

_FEWEST_CANDIDATES = 2


@dataclass(frozen=True, slots=True)
class StatementPair:
    """A closed question as the statement for yes and its negation; `record` is its number in the question file.

    `path` is the image's, relative to the suite's folder.
    """

    record: int
    path: str
    answer: bool
    affirmative: str
    negative: str


def question_task(
    folder: Path,
    spec: ProbeTaskSpec,
    *,
    pairs: Sequence[StatementPair],
    n_without_rule: int,
    numbers: InputNumbers,
) -> QuestionTask:
    """Number the images and statements of questions; questions about equal images are of one cluster.

    Raises:
        SuiteInvalid: there is no question, or a statement equals its negation.
        InputUnreadable: an image cannot be read.
    """
    if not pairs:
        raise SuiteInvalid(f"{spec.name}: no question has statements, so none can be scored.")
    for pair in pairs:
        if pair.affirmative == pair.negative:
            raise SuiteInvalid(f"{spec.name}: question {pair.record} has one statement for both answers.")
    images = [numbers.of_image(folder / pair.path) for pair in pairs]
    affirmatives = [numbers.of_text(pair.affirmative) for pair in pairs]
    negatives = [numbers.of_text(pair.negative) for pair in pairs]
    keys = numbers.keys
    lines = [
        [keys[image], pair.affirmative, pair.negative, pair.answer] for image, pair in zip(images, pairs, strict=True)
    ]
    return QuestionTask(
        spec=spec,
        inputs=numbers.inputs,
        keys=keys,
        data_sha256=canonical_sha256([lines, n_without_rule]),
        records=tuple(pair.record for pair in pairs),
        images=tuple(images),
        affirmatives=tuple(affirmatives),
        negatives=tuple(negatives),
        answers=tuple(pair.answer for pair in pairs),
        clusters=tuple(keys[image] for image in images),
        n_without_rule=n_without_rule,
    )


def caption_task(
    folder: Path,
    spec: ProbeTaskSpec,
    *,
    paths: Sequence[str],
    captions: Sequence[str],
    clusters: Sequence[str],
    numbers: InputNumbers,
) -> CaptionTask:
    """Number images and captions, each once; captions are equal if they are but for spaces.

    Args:
        folder: the suite's.
        spec: the task's declaration.
        paths: of the images, relative to the folder; one entry a pair of image and caption.
        captions: the text of each.
        clusters: the patient of each.
        numbers: new, or one that is shared by nothing else.

    Raises:
        SuiteInvalid: fewer than two different images or captions, or one image is of two patients.
        InputUnreadable: an image cannot be read.
    """
    image_of: dict[int, int] = {}
    caption_of: dict[int, int] = {}
    patients: list[str] = []
    pairs: dict[tuple[int, int], None] = {}
    for path, caption, cluster in zip(paths, captions, clusters, strict=True):
        image = image_of.setdefault(numbers.of_image(folder / path), len(image_of))
        if image == len(patients):
            patients.append(cluster)
        if patients[image] != cluster:
            raise SuiteInvalid(f"{spec.name}: {path} is an image of {cluster} and of {patients[image]}.")
        text = caption_of.setdefault(numbers.of_text(" ".join(caption.split())), len(caption_of))
        pairs[image, text] = None
    if min(len(image_of), len(caption_of)) < _FEWEST_CANDIDATES:
        raise SuiteInvalid(f"{spec.name}: {len(image_of)} images and {len(caption_of)} captions; nothing to rank.")
    keys = numbers.keys
    lines = [[keys[image] for image in image_of], [keys[text] for text in caption_of], list(pairs), patients]
    return CaptionTask(
        spec=spec,
        inputs=numbers.inputs,
        keys=keys,
        data_sha256=canonical_sha256(lines),
        images=tuple(image_of),
        captions=tuple(caption_of),
        pairs=tuple(pairs),
        clusters=tuple(patients),
    )


def label_task(
    folder: Path,
    spec: ProbeTaskSpec,
    *,
    paths: Sequence[str],
    clusters: Sequence[str],
    labels: Sequence[str],
    names: Sequence[str],
    truth: BoolMatrix,
    numbers: InputNumbers,
) -> LabelTask:
    """Number images and prompts: a label's name, and "no " before it.

    Args:
        folder: the suite's.
        spec: the task's declaration.
        paths: of the images, relative to the folder.
        clusters: the patient of each.
        labels: keys of the labels.
        names: what each is called in a prompt.
        truth: shape (images, labels).
        numbers: new, or one that is shared by nothing else.

    Raises:
        SuiteInvalid: there is no image, or two labels have one name.
        InputUnreadable: an image cannot be read.
    """
    if not paths:
        raise SuiteInvalid(f"{spec.name}: there are no images.")
    if len(set(names)) != len(names):
        raise SuiteInvalid(f"{spec.name}: two labels have one name; {', '.join(names)}.")
    images = [numbers.of_image(folder / path) for path in paths]
    present = [numbers.of_text(name) for name in names]
    absent = [numbers.of_text(f"no {name}") for name in names]
    keys = numbers.keys
    lines = [[keys[image] for image in images], list(clusters), list(names), np.asarray(truth).astype(int).tolist()]
    return LabelTask(
        spec=spec,
        inputs=numbers.inputs,
        keys=keys,
        data_sha256=canonical_sha256(lines),
        images=tuple(images),
        labels=tuple(labels),
        present=tuple(present),
        absent=tuple(absent),
        truth=truth,
        clusters=tuple(clusters),
    )

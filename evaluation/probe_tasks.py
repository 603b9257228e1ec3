"""Loaded tasks of the probing suite: what is embedded, and which vectors are compared with which.

In every task `inputs` are distinct, `keys[i]` is the content hash of `inputs[i]`, and other whole numbers are positions
in `inputs` unless said otherwise. `data_sha256` covers contents and their order, but no file name. `whole_texts` are
those that the model must read to their end.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.inputs import EmbeddingInput
from evaluation.probe_types import ProbeTaskSpec

BoolMatrix = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ProbeTexts:
    """One template variant of one concept: the inputs that are its true and its false texts."""

    positives: tuple[int, ...]
    negatives: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CellTask:
    """One modality, level, style and subtype over the anchors of one set.

    `images` and `clusters` cover the whole anchor set in the order of its manifest; `anchors` are the rows of the
    manifest that the task takes, and `concepts` says for each of them which of `probes` it has. `probes` has one tuple
    of template variants a concept. `scale_texts` are the texts of the modality's main probe sets: the spread of a
    model's cosines is taken over all images of the set and these. `blind_images` are a blank and a noise image.
    `left_out` counts anchors whose concept has no probe, by concept.
    """

    spec: ProbeTaskSpec
    inputs: tuple[EmbeddingInput, ...]
    keys: tuple[str, ...]
    data_sha256: str
    anchor_set: str
    images: tuple[int, ...]
    clusters: tuple[str, ...]
    anchors: tuple[int, ...]
    concepts: tuple[int, ...]
    probes: tuple[tuple[ProbeTexts, ...], ...]
    scale_texts: tuple[int, ...]
    blind_images: tuple[int, int]
    left_out: Mapping[str, int]

    @property
    def shared(self) -> frozenset[int]:
        """The texts that all cells of the anchor set have."""
        return frozenset(self.scale_texts)

    @property
    def whole_texts(self) -> frozenset[int]:
        """Every text of a probe: a cut may take the very word that makes it false."""
        own = {text for variants in self.probes for texts in variants for text in (*texts.positives, *texts.negatives)}
        return frozenset(own.union(self.scale_texts))

    @property
    def n_scored(self) -> int:
        """How many anchors are scored."""
        return len(self.anchors)


@dataclass(frozen=True, slots=True)
class QuestionTask:
    """Closed questions, each with a statement for yes and its negation; one entry a question in every tuple.

    `records` are numbers of the question file, from 0. `n_without_rule` questions have no statements and are not here.
    """

    spec: ProbeTaskSpec
    inputs: tuple[EmbeddingInput, ...]
    keys: tuple[str, ...]
    data_sha256: str
    records: tuple[int, ...]
    images: tuple[int, ...]
    affirmatives: tuple[int, ...]
    negatives: tuple[int, ...]
    answers: tuple[bool, ...]
    clusters: tuple[str, ...]
    n_without_rule: int

    @property
    def shared(self) -> frozenset[int]:
        """None."""
        return frozenset()

    @property
    def whole_texts(self) -> frozenset[int]:
        """Both statements of every question."""
        return frozenset((*self.affirmatives, *self.negatives))

    @property
    def n_scored(self) -> int:
        """How many questions are scored."""
        return len(self.records)


@dataclass(frozen=True, slots=True)
class CaptionTask:
    """Retrieval between images and captions; identical captions are one, and so are identical images.

    `pairs` are (image, caption), numbers in `images` and `captions`. `clusters` has the patient of each image.
    """

    spec: ProbeTaskSpec
    inputs: tuple[EmbeddingInput, ...]
    keys: tuple[str, ...]
    data_sha256: str
    images: tuple[int, ...]
    captions: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...]
    clusters: tuple[str, ...]

    @property
    def shared(self) -> frozenset[int]:
        """None."""
        return frozenset()

    @property
    def whole_texts(self) -> frozenset[int]:
        """None: reports are longer than models read, and retrieval is customarily measured on what they do read."""
        return frozenset()

    @property
    def n_scored(self) -> int:
        """How many images and captions are queries."""
        return len(self.images) + len(self.captions)


@dataclass(frozen=True, slots=True)
class LabelTask:
    """Zero-shot classification: each label is a pair of prompts, its presence and its absence.

    `truth` has shape (images, labels). `clusters` has the patient of each image.
    """

    spec: ProbeTaskSpec
    inputs: tuple[EmbeddingInput, ...]
    keys: tuple[str, ...]
    data_sha256: str
    images: tuple[int, ...]
    labels: tuple[str, ...]
    present: tuple[int, ...]
    absent: tuple[int, ...]
    truth: BoolMatrix
    clusters: tuple[str, ...]

    @property
    def shared(self) -> frozenset[int]:
        """None."""
        return frozenset()

    @property
    def whole_texts(self) -> frozenset[int]:
        """All prompts."""
        return frozenset((*self.present, *self.absent))

    @property
    def n_scored(self) -> int:
        """How many images are classified."""
        return len(self.images)


ProbeTask = CellTask | QuestionTask | CaptionTask | LabelTask

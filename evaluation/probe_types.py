"""Frozen values of the probing suite: texts, anchor images, tasks and their results."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evaluation.types import MetricValue
from evaluation.vocabulary import (
    AnchorSelection,
    Level,
    Modality,
    NegationSubtype,
    PhrasingStyle,
    ProbeTaskKind,
)

FloatArray = NDArray[np.float32]

NO_FINDING = "no_finding"
"""The label of an anchor that shows nothing abnormal."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One template variant of one concept: four true texts and up to ten false ones that differ along one axis.

    `source` says where the concept's words come from.
    """

    concept: str
    template: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class ProbeSet:
    """The probes of one modality, level, style and negation subtype (None below L5).

    Every concept has equally many template variants, in the same order. `selection` names the anchors that they are
    true of. `sha256` covers all texts.
    """

    modality: Modality
    level: Level
    style: PhrasingStyle
    subtype: NegationSubtype | None
    selection: AnchorSelection
    version: str
    probes: tuple[Probe, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """One image with one known label, as a row of an anchor manifest.

    `path` is relative to the suite's folder; for a volume it is a NIfTI file or a folder of slices, and `slice_index`
    and `window` say what a model for plane images is given. `cluster` is the patient or lesion: anchors that share one
    are resampled together. `region` is the anatomical site where the modality has several, else empty. Attributes that
    the publisher does not give are empty, `age` None.
    """

    anchor_id: str
    modality: Modality
    dataset: str
    dataset_version: str
    source_split: str
    path: str
    sha256: str
    cluster: str
    label: str
    label_source: str
    region: str
    view: str
    slice_index: int | None
    window: str
    sex: str
    age: float | None
    skin_tone: str
    licence: str
    seed: int
    code_version: str

    def concept(self, level: Level) -> str:
        """Which concept is true of the anchor at a level: its modality, its region, or its label."""
        if level in (Level.L4, Level.L5):
            return self.label
        return self.region if level is Level.L3 and self.region else self.modality


@dataclass(frozen=True, slots=True)
class AnchorSet:
    """The anchors of one data set. `dropped` counts the rows of the publisher's table that were left out, by reason."""

    name: str
    modality: Modality
    anchors: tuple[Anchor, ...]
    dropped: Mapping[str, int]
    sha256: str


@dataclass(frozen=True, slots=True)
class ProbeTaskSpec:
    """The declaration of one task of the probing suite.

    `data_path` is the anchor manifest, or the question or caption file of another kind of task, relative to the suite's
    folder. `level` and `style` are None and `probes_sha256` is empty where a task has no probes; `subtype` is None
    below L5.
    """

    name: str
    title: str
    kind: ProbeTaskKind
    modality: Modality | None
    level: Level | None
    style: PhrasingStyle | None
    subtype: NegationSubtype | None
    selection: AnchorSelection
    dataset: str
    data_path: str
    probes_sha256: str
    licence: str
    images_may_be_shown: bool
    notes: str = ""


@dataclass(frozen=True, slots=True)
class ProbeSuiteSpec:
    """A versioned, ordered list of probing tasks."""

    slug: str
    version: str
    title: str
    synthetic: bool
    tasks: tuple[ProbeTaskSpec, ...]


@dataclass(frozen=True, slots=True)
class ProbeTaskResult:
    """The outcome of one probing task for one model.

    `arrays` keep every number that a metric, an interval or an analysis is made from, e.g. for a cell `ds` of shape
    (anchors, template variants) in the order of the manifest. `chance` is the main metric's value for a model that
    knows nothing, where there is one. `counts` says how many anchors, questions, negatives and the like there were.
    """

    task: str
    kind: ProbeTaskKind
    spec_sha256: str
    data_sha256: str
    metrics: tuple[MetricValue, ...]
    chance: float | None
    counts: Mapping[str, int]
    arrays: Mapping[str, FloatArray]
    n_inputs: int
    seconds_embedding: float
    seconds_scoring: float
    peak_memory_bytes: int
    warnings: tuple[str, ...] = field(default=())

"""Brings the database's catalogue in line with an installed probing suite."""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluation.errors import EvaluationError
from evaluation.manifest import spec_sha256
from evaluation.probe_types import AnchorSet, ProbeSet, ProbeTaskSpec
from evaluation.suites.medtec.anchors.manifest import read_anchor_set
from evaluation.suites.medtec.probe_reading import probe_set_for
from evaluation.suites.medtec.protocols import read_captions, read_label_matrix
from evaluation.suites.medtec.questions import read_questions
from evaluation.suites.medtec.sources import names_of
from evaluation.suites.medtec.suite import read_probe_suite, selected
from evaluation.vocabulary import ProbeTaskKind
from leaderboard.models.vocabulary import SuiteKind, TaskKind
from leaderboard.services.catalogue_sync import TaskDeclaration, suite_sync

TASK_KINDS = {
    ProbeTaskKind.CELL: TaskKind.CELL,
    ProbeTaskKind.CLOSED_QUESTIONS: TaskKind.CLOSED_QUESTIONS,
    ProbeTaskKind.RETRIEVAL: TaskKind.CAPTION_RETRIEVAL,
    ProbeTaskKind.ZERO_SHOT: TaskKind.ZERO_SHOT,
}
COIN = 0.5
"""What a model that knows nothing reaches in balanced accuracy and in an area under the curve."""

LEFT_OUT = "rows of the publisher's table that were left out"
LABELS = "anchors by label"

logger = logging.getLogger(__name__)


def sync_probe_suite(folder: Path) -> None:
    """Store the probing suite in a folder with what its data files say."""
    suite = read_probe_suite(folder)
    files = _Files(folder)
    suite_sync(
        slug=suite.slug,
        version=suite.version,
        title=suite.title,
        synthetic=suite.synthetic,
        kind=SuiteKind.PROBING,
        tasks=[_declaration(spec, _measure(spec, files)) for spec in suite.tasks],
    )


@dataclass(slots=True)
class _Files:
    """The anchor sets of a suite, each read once."""

    folder: Path
    anchor_sets: dict[str, AnchorSet] = field(default_factory=dict)

    def anchor_set(self, spec: ProbeTaskSpec) -> AnchorSet:
        if spec.data_path not in self.anchor_sets:
            self.anchor_sets[spec.data_path] = read_anchor_set(self.folder / spec.data_path)
        return self.anchor_sets[spec.data_path]


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is known of a task's data: how much there is of it, or why it cannot be used."""

    n_items: int | None = None
    facts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    examples: tuple[Mapping[str, Any], ...] = ()
    unavailable_reason: str = ""


def _measure(spec: ProbeTaskSpec, files: _Files) -> _Measure:
    try:
        return _found(spec, files)
    except EvaluationError as error:
        # The message names files of this worker, which the public has no use for.
        logger.warning("task %s stays out: %s", spec.name, error.message)
        return _Measure(unavailable_reason=f"its data or its probe texts cannot be used ({error.code}).")


def _found(spec: ProbeTaskSpec, files: _Files) -> _Measure:
    match spec.kind:
        case ProbeTaskKind.CELL:
            return _cell(spec, files.anchor_set(spec))
        case ProbeTaskKind.CLOSED_QUESTIONS:
            questions = read_questions(files.folder / spec.data_path)
            counts = {
                "questions by rule": _worded(questions.counts_by_rule()),
                "left out": {
                    "without a rule": len(questions.without_rule),
                    "repeated": questions.repeats,
                    "open": questions.open,
                },
            }
            return _Measure(len(questions.questions), counts)
        case ProbeTaskKind.RETRIEVAL:
            return _Measure(len(read_captions(files.folder / spec.data_path).paths))
        case ProbeTaskKind.ZERO_SHOT:
            return _Measure(len(read_label_matrix(files.folder / spec.data_path).paths))


def _cell(spec: ProbeTaskSpec, anchor_set: AnchorSet) -> _Measure:
    probes = probe_set_for(spec)
    known = {probe.concept for probe in probes.probes}
    anchors = [
        anchor for anchor in selected(anchor_set.anchors, spec.selection) if anchor.concept(probes.level) in known
    ]
    concepts = Counter(anchor.concept(probes.level) for anchor in anchors)
    facts = {
        LEFT_OUT: _worded(anchor_set.dropped),
        LABELS: _worded(Counter(anchor.label for anchor in anchors)),
    }
    return _Measure(len(anchors), facts, _examples(probes, max(concepts, key=lambda name: (concepts[name], name))))


def _worded(counts: Mapping[str, int]) -> dict[str, int]:
    return {_words(name): count for name, count in sorted(counts.items())}


def _words(name: str) -> str:
    """A key of the data as words."""
    return name.replace("_", " ")


def _examples(probes: ProbeSet, concept: str) -> tuple[Mapping[str, Any], ...]:
    """The texts of one concept, a template variant after the other."""
    return tuple(
        {
            "concept": _words(probe.concept),
            "positives": list(probe.positives),
            "negatives": list(probe.negatives),
            "source": probe.source,
        }
        for probe in probes.probes
        if probe.concept == concept
    )


def _declaration(spec: ProbeTaskSpec, measure: _Measure) -> TaskDeclaration:
    is_cell = spec.kind is ProbeTaskKind.CELL
    has_even_chance = spec.kind in (ProbeTaskKind.CLOSED_QUESTIONS, ProbeTaskKind.ZERO_SHOT)
    return TaskDeclaration(
        name=spec.name,
        title=spec.title,
        kind=TASK_KINDS[spec.kind],
        modality=spec.modality or "",
        level=(spec.level or "") if is_cell else "",
        style=(spec.style or "") if is_cell else "",
        subtype=(spec.subtype or "") if is_cell else "",
        selection=spec.selection if is_cell else "",
        datasets=names_of(spec.dataset),
        data_group=spec.modality or spec.data_path,
        licence=spec.licence,
        images_may_be_shown=spec.images_may_be_shown,
        notes=spec.notes,
        spec_sha256=spec_sha256(spec),
        example_probes=measure.examples,
        data_facts=measure.facts,
        n_queries=measure.n_items,
        chance=COIN if has_even_chance and measure.n_items else None,
        unavailable_reason=measure.unavailable_reason,
    )

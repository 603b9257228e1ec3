"""Builds the probe sets of a modality from its vocabulary. The same vocabulary gives the same texts, in the same order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from evaluation.manifest import canonical_sha256
from evaluation.probe_types import NO_FINDING, Probe, ProbeSet
from evaluation.suites.medtec.probe_vocabulary import MAX_NEGATIVES, POSITIVES, Clause, Frames, Vocabulary
from evaluation.suites.medtec.wordings import Wording, fill, image_slots
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype, PhrasingStyle

VERSION = "1"


def build_probe_sets(vocabulary: Vocabulary) -> tuple[ProbeSet, ...]:
    """All probe sets of a modality: L1 to L3, L4 by style, L5 by style, then by subtype, then the reversed one."""
    sets = [_level_set(vocabulary, frames) for frames in vocabulary.frames if frames.level is not Level.L5]
    negations = [frames for frames in vocabulary.frames if frames.level is Level.L5]
    sets += [_negation_set(vocabulary, frames, NegationSubtype.MIXED) for frames in negations]
    (main,) = (frames for frames in negations if frames.style is PhrasingStyle.TEMPLATE)
    subtypes = [subtype for subtype in NegationSubtype if subtype is not NegationSubtype.MIXED]
    sets += [_negation_set(vocabulary, main, subtype) for subtype in subtypes]
    if any(term.key == NO_FINDING for term in vocabulary.concepts(Level.L5)):
        sets.append(_reversed_set(vocabulary, main))
    return tuple(sets)


def probes_sha256(probe_set: ProbeSet) -> str:
    """64 hexadecimal digits that cover what is embedded and what it is compared with; sources are left out."""
    return canonical_sha256(_hashed(probe_set))


def _hashed(probe_set: ProbeSet) -> Mapping[str, Any]:
    return {
        "modality": probe_set.modality,
        "level": probe_set.level,
        "style": probe_set.style,
        "subtype": probe_set.subtype,
        "selection": probe_set.selection,
        "version": probe_set.version,
        "probes": [
            {
                "concept": probe.concept,
                "template": probe.template,
                "positives": list(probe.positives),
                "negatives": list(probe.negatives),
            }
            for probe in probe_set.probes
        ],
    }


def _level_set(vocabulary: Vocabulary, frames: Frames) -> ProbeSet:
    """L1 to L4: the concept's own wordings against those of its first ten alternatives."""
    probes: list[Probe] = []
    for concept in vocabulary.concepts(frames.level):
        true = concept.wordings[frames.style][:POSITIVES]
        others = vocabulary.alternatives(frames.level, concept)[:MAX_NEGATIVES]
        false = [_nearest_in_length(other.wordings[frames.style], true) for other in others]
        probes += [
            Probe(
                concept=concept.key,
                template=frame,
                positives=tuple(fill(frame, wording.slots()) for wording in true),
                negatives=tuple(fill(frame, wording.slots()) for wording in false),
                source=_sources(concept.source, frames.source),
            )
            for frame in _framed(vocabulary, frames)
        ]
    return _finished(vocabulary, frames, None, AnchorSelection.ALL, probes)


def _nearest_in_length(wordings: Sequence[Wording], true: Sequence[Wording]) -> Wording:
    """The wording nearest to the true ones' mean length; the first of equals. A word counts as its characters again."""
    words, characters = (fmean(lengths) for lengths in zip(*(_length(wording) for wording in true), strict=True))

    def distance(wording: Wording) -> float:
        own_words, own_characters = _length(wording)
        return abs(own_words - words) * characters / words + abs(own_characters - characters)

    return min(wordings, key=distance)


def _length(wording: Wording) -> tuple[int, int]:
    return len(wording.text.split()), len(wording.text)


def _negation_set(vocabulary: Vocabulary, frames: Frames, subtype: NegationSubtype) -> ProbeSet:
    """L5: the finding asserted against the finding negated, under its first name of the style."""
    constructions = negations_of(vocabulary, subtype)
    probes: list[Probe] = []
    for concept in vocabulary.concepts(Level.L5):
        if concept.key == NO_FINDING:
            continue
        name = concept.wordings[frames.style][0]
        probes += [
            Probe(
                concept=concept.key,
                template=frame,
                positives=_stated(vocabulary, frame, vocabulary.assertions, name),
                negatives=_stated(vocabulary, frame, constructions, name),
                source=_sources(concept.source, frames.source),
            )
            for frame in _framed(vocabulary, frames)
        ]
    return _finished(vocabulary, frames, subtype, AnchorSelection.FINDING, probes)


def negations_of(vocabulary: Vocabulary, subtype: NegationSubtype) -> tuple[Clause, ...]:
    """The constructions of a subtype; of `MIXED`, those marked as main."""
    if subtype is NegationSubtype.MIXED:
        return tuple(clause for clause in vocabulary.constructions if clause.is_main)
    return tuple(clause for clause in vocabulary.constructions if clause.subtype is subtype)


def _stated(vocabulary: Vocabulary, frame: str, clauses: Sequence[Clause], name: Wording) -> tuple[str, ...]:
    slots = {**name.slots(), "evidence": vocabulary.evidence}
    return tuple(fill(frame, {"clause": fill(clause.text, slots)}) for clause in clauses)


def _reversed_set(vocabulary: Vocabulary, frames: Frames) -> ProbeSet:
    """For anchors without a finding: normality stated against findings asserted, each by the next assertion in turn."""
    (normal,) = (term for term in vocabulary.concepts(Level.L5) if term.key == NO_FINDING)
    findings = vocabulary.alternatives(Level.L5, normal)[:MAX_NEGATIVES]
    probes = []
    for frame in _framed(vocabulary, frames):
        false: list[str] = []
        for number, finding in enumerate(findings):
            clause = vocabulary.assertions[number % len(vocabulary.assertions)]
            false += _stated(vocabulary, frame, [clause], finding.wordings[frames.style][0])
        true = tuple(fill(frame, {"clause": clause.text}) for clause in vocabulary.normality)
        source = _sources(normal.source, frames.source)
        probes.append(Probe(NO_FINDING, frame, positives=true, negatives=tuple(false), source=source))
    return _finished(vocabulary, frames, NegationSubtype.MIXED, AnchorSelection.NO_FINDING, probes)


def _framed(vocabulary: Vocabulary, frames: Frames) -> Iterator[str]:
    """The frames of a level and style with the kind of image filled in."""
    image = vocabulary.region_image if frames.level is Level.L3 else vocabulary.images[frames.style]
    for frame in frames.frames:
        yield fill(frame, image_slots(image))


def _sources(concept: str, frame: str) -> str:
    return f"concept: {concept}; sentence: {frame}"


def _finished(
    vocabulary: Vocabulary,
    frames: Frames,
    subtype: NegationSubtype | None,
    selection: AnchorSelection,
    probes: Sequence[Probe],
) -> ProbeSet:
    draft = ProbeSet(
        modality=vocabulary.modality,
        level=frames.level,
        style=frames.style,
        subtype=subtype,
        selection=selection,
        version=VERSION,
        probes=tuple(probes),
        sha256="",
    )
    return replace(draft, sha256=probes_sha256(draft))

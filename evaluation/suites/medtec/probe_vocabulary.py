"""The words that probes are made from, and which of them are false of an anchor."""

from collections.abc import Mapping
from dataclasses import dataclass

from evaluation.suites.medtec.wordings import Wording
from evaluation.vocabulary import Level, Modality, NegationSubtype, PhrasingStyle

MAX_NEGATIVES = 10
POSITIVES = 4

Wordings = Mapping[PhrasingStyle, tuple[Wording, ...]]


@dataclass(frozen=True, slots=True)
class Term:
    """A concept with its wordings by style.

    `is_anchor`: an anchor may have it. `related`: whatever may be true of the same anchor. `lists`: the label lists
    that judge it (empty: all do). `is_incidental`: often there without being labelled.
    """

    key: str
    wordings: Wordings
    source: str
    is_anchor: bool = False
    related: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    is_incidental: bool = False


@dataclass(frozen=True, slots=True)
class Frames:
    """The template variants of one level and style."""

    level: Level
    style: PhrasingStyle
    frames: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of L5. `subtype` is None for one that asserts; `is_main` puts a negation into the main set."""

    text: str
    source: str
    subtype: NegationSubtype | None = None
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All that the probes of one modality are made from.

    `images` names the kind of image by style, `region_image` without its region. `own_image` names it as L1 and L2 do,
    `other_images` the modalities of the same anatomy. The first region or finding of a list is offered first.
    """

    modality: Modality
    evidence: str
    images: Mapping[PhrasingStyle, Wording]
    region_image: Wording
    own_image: Term
    objects: tuple[Term, ...]
    other_images: tuple[Term, ...]
    regions: tuple[Term, ...]
    findings: tuple[Term, ...]
    frames: tuple[Frames, ...]
    assertions: tuple[Clause, ...]
    normality: tuple[Clause, ...]
    constructions: tuple[Clause, ...]

    def concepts(self, level: Level) -> tuple[Term, ...]:
        """The concepts that anchors have at a level."""
        if level in (Level.L1, Level.L2):
            return (self.own_image,)
        terms = self.regions if level is Level.L3 else self.findings
        return tuple(term for term in terms if term.is_anchor)

    def alternatives(self, level: Level, concept: Term) -> tuple[Term, ...]:
        """What is false of every anchor with a concept, best first: never itself or anything related.

        A label that no list of the concept judges is not offered, and an incidental one only where all of them do.
        Labels that all of them judge come before those that some do; otherwise the order is the vocabulary's.
        """
        offered = {Level.L1: self.objects, Level.L2: self.other_images, Level.L3: self.regions}.get(
            level, self.findings
        )
        allowed = [term for term in offered if _is_false_of(term, concept)]
        return tuple(sorted(allowed, key=lambda term: not _is_judged_by_all(term, concept)))


def _is_false_of(term: Term, concept: Term) -> bool:
    if term.key == concept.key or term.key in concept.related or concept.key in term.related:
        return False
    if term.is_incidental:
        return _is_judged_by_all(term, concept)
    return not concept.lists or not term.lists or bool(concept.lists & term.lists)


def _is_judged_by_all(term: Term, concept: Term) -> bool:
    return not term.lists or concept.lists <= term.lists

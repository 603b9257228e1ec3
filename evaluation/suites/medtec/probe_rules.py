"""The rules that one probe has to keep, whoever wrote it. They read its texts and the vocabulary, not the builder."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from evaluation.probe_types import Probe, ProbeSet
from evaluation.suites.medtec.probe_vocabulary import MAX_NEGATIVES, POSITIVES, Clause, Term, Vocabulary
from evaluation.suites.medtec.wordings import fill, normalised
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype

MIN_NEGATIVES = 8

Complaint = tuple[str, str]
"""A text of the probe (or its template) and what is wrong with it."""

Rule = Callable[[Vocabulary, ProbeSet, Probe], Iterator[Complaint]]


def sides_are_distinct(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe) -> Iterator[Complaint]:
    """No text stands on both sides or twice on one, whatever its case, spaces and punctuation."""
    sides = {"positives": probe.positives, "negatives": probe.negatives}
    for name, texts in sides.items():
        seen: set[str] = set()
        for text in texts:
            if normalised(text) in seen:
                yield text, f"stands twice among the {name}"
            seen.add(normalised(text))
    true = {normalised(text) for text in probe.positives}
    for text in probe.negatives:
        if normalised(text) in true:
            yield text, "stands on both sides"


def counts_are_right(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe) -> Iterator[Complaint]:
    """Four positives; eight to ten negatives, or all that there are where the vocabulary has fewer than eight."""
    if len(probe.positives) != POSITIVES:
        yield probe.template, f"has {len(probe.positives)} positives, not {POSITIVES}"
    concept = _concept(vocabulary, probe_set, probe)
    if concept is None:
        return
    available = MAX_NEGATIVES
    if not _is_negation(probe_set):
        available = min(available, len(vocabulary.alternatives(probe_set.level, concept)))
    least = min(MIN_NEGATIVES, available)
    if not least <= len(probe.negatives) <= available:
        span = str(least) if least == available else f"{least} to {available}"
        yield probe.template, f"has {len(probe.negatives)} negatives, not {span}"


def texts_mean_what_they_should(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe) -> Iterator[Complaint]:
    """Positives are true of the concept, negatives are not: nothing related to it, and nothing of unknown meaning."""
    concept = _concept(vocabulary, probe_set, probe)
    if concept is None:
        yield probe.template, f"speaks of {probe.concept!r}, which is no concept of this level"
    elif probe_set.level is not Level.L5:
        yield from _terms_are_right(vocabulary, probe_set, probe, concept)
    elif probe_set.selection is AnchorSelection.NO_FINDING:
        yield from _reversal_is_right(vocabulary, probe_set, probe, concept)
    else:
        yield from _negation_is_right(vocabulary, probe_set, probe, concept)


RULES: tuple[Rule, ...] = (sides_are_distinct, counts_are_right, texts_mean_what_they_should)


def _is_negation(probe_set: ProbeSet) -> bool:
    return probe_set.level is Level.L5 and probe_set.selection is not AnchorSelection.NO_FINDING


def _concept(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe) -> Term | None:
    return next((term for term in vocabulary.concepts(probe_set.level) if term.key == probe.concept), None)


def _terms_are_right(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe, concept: Term) -> Iterator[Complaint]:
    """L1 to L4: every text is the template filled with a wording of a term; whose, decides."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for term in (concept, *_offered(vocabulary, probe_set.level)):
        for wording in term.wordings[probe_set.style]:
            meanings[normalised(fill(probe.template, wording.slots()))].add(term.key)
    for text in probe.positives:
        if concept.key not in meanings[normalised(text)]:
            yield text, f"is no wording of {concept.key!r}"
    allowed = {term.key for term in vocabulary.alternatives(probe_set.level, concept)}
    for text in probe.negatives:
        yield from _negative_is_right(text, meanings[normalised(text)], allowed, concept)


def _negative_is_right(text: str, meanings: set[str], allowed: set[str], concept: Term) -> Iterator[Complaint]:
    if not meanings:
        yield text, "has a meaning that the vocabulary does not know, so nobody can say that it is false"
    elif concept.key in meanings:
        yield text, f"is a synonym of {concept.key!r}, so it is true"
    elif forbidden := sorted(meanings - allowed):
        yield text, f"names {forbidden[0]!r}, which may be true of an anchor with {concept.key!r}"


def _offered(vocabulary: Vocabulary, level: Level) -> Sequence[Term]:
    offered = {Level.L1: vocabulary.objects, Level.L2: vocabulary.other_images, Level.L3: vocabulary.regions}
    return offered.get(level, vocabulary.findings)


def _negation_is_right(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe, concept: Term) -> Iterator[Complaint]:
    """L5: the finding itself, asserted on one side and negated by the set's subtype on the other."""
    asserted = _statements(vocabulary, probe_set, probe, vocabulary.assertions, concept)
    wanted = [clause for clause in vocabulary.constructions if _is_of(clause, probe_set.subtype)]
    negated = _statements(vocabulary, probe_set, probe, wanted, concept)
    for text in probe.positives:
        if normalised(text) not in asserted:
            yield text, f"does not assert {concept.key!r}"
    for text in probe.negatives:
        if normalised(text) not in negated:
            yield text, f"does not negate {concept.key!r} by a {probe_set.subtype} construction"


def _is_of(clause: Clause, subtype: NegationSubtype | None) -> bool:
    return clause.is_main if subtype is NegationSubtype.MIXED else clause.subtype is subtype


def _reversal_is_right(vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe, concept: Term) -> Iterator[Complaint]:
    """L5 without a finding: normality stated on one side, findings that cannot be true asserted on the other."""
    normal = {normalised(fill(probe.template, {"clause": clause.text})) for clause in vocabulary.normality}
    for text in probe.positives:
        if normalised(text) not in normal:
            yield text, "does not state that nothing is abnormal"
    meanings: dict[str, set[str]] = defaultdict(set)
    for term in vocabulary.findings:
        for statement in _statements(vocabulary, probe_set, probe, vocabulary.assertions, term):
            meanings[statement].add(term.key)
    allowed = {term.key for term in vocabulary.alternatives(Level.L5, concept)}
    for text in probe.negatives:
        yield from _negative_is_right(text, meanings[normalised(text)], allowed, concept)


def _statements(
    vocabulary: Vocabulary, probe_set: ProbeSet, probe: Probe, clauses: Sequence[Clause], term: Term
) -> frozenset[str]:
    """The probe's template filled with these clauses about a term, in every wording of it."""
    evidence = {"evidence": vocabulary.evidence}
    return frozenset(
        normalised(fill(probe.template, {"clause": fill(clause.text, wording.slots() | evidence)}))
        for clause in clauses
        for wording in term.wordings[probe_set.style]
    )

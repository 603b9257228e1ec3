"""Checks whole probe sets: what is there, template variants, lengths and tokens, besides the rules of single probes."""

from collections.abc import Iterator, Sequence

from evaluation.errors import SuiteInvalid
from evaluation.probe_types import NO_FINDING, Probe, ProbeSet
from evaluation.suites.medtec.probe_lengths import (
    TEXT_LIMITS,
    TokenCounter,
    length_difference,
    probe_difference,
    token_bound,
    word_count,
)
from evaluation.suites.medtec.probe_rules import RULES
from evaluation.suites.medtec.probe_vocabulary import Term, Vocabulary
from evaluation.suites.medtec.wordings import fill, image_slots, normalised
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype, PhrasingStyle

MIN_VARIANTS = 3

MEAN_WORDS, MEAN_CHARACTERS = 1.0, 6.0
"""The most that positives and negatives may differ on average over a set below L5, where length is matched."""

LARGEST_WORDS, LARGEST_CHARACTERS = 2.5, 12.0
"""The most that they may differ in one probe below L5."""

_SHOWN = 10


def require_sound(vocabulary: Vocabulary, sets: Sequence[ProbeSet], count_tokens: TokenCounter = token_bound) -> None:
    """Refuse probe sets that break a rule.

    Raises:
        SuiteInvalid: with the first ten breaches, each naming modality, level, concept, template and text.
    """
    problems = find_problems(vocabulary, sets, count_tokens)
    if problems:
        shown = "\n".join(problems[:_SHOWN])
        more = f"\nand {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise SuiteInvalid(f"Probes of {vocabulary.modality} break {len(problems)} rules. Change them:\n{shown}{more}")


def find_problems(
    vocabulary: Vocabulary, sets: Sequence[ProbeSet], count_tokens: TokenCounter = token_bound
) -> tuple[str, ...]:
    """Every breach of a rule in the probe sets of a modality and in its vocabulary, as a sentence each."""
    problems = [*_shared_wordings(vocabulary), *_missing_sets(vocabulary, sets)]
    for probe_set in sets:
        problems += _variants(vocabulary, probe_set)
        problems += _lengths(probe_set)
        for probe in probe_set.probes:
            problems += [
                _named(probe_set, probe, text, fault)
                for rule in RULES
                for text, fault in rule(vocabulary, probe_set, probe)
            ]
        problems += _truncations(probe_set, count_tokens)
    return tuple(problems)


def _place(probe_set: ProbeSet) -> str:
    words = (probe_set.modality, probe_set.level, probe_set.style, probe_set.subtype)
    reversed_set = " (no finding)" if probe_set.selection is AnchorSelection.NO_FINDING else ""
    return " ".join(word for word in words if word is not None) + reversed_set


def _named(probe_set: ProbeSet, probe: Probe, text: str, fault: str) -> str:
    return f"{_place(probe_set)}, concept {probe.concept!r}, template {probe.template!r}: {text!r} {fault}."


def _shared_wordings(vocabulary: Vocabulary) -> Iterator[str]:
    """A wording that names two concepts could be true where it is meant to be false."""
    groups = {
        Level.L1: (vocabulary.own_image, *vocabulary.objects),
        Level.L2: (vocabulary.own_image, *vocabulary.other_images),
        Level.L3: vocabulary.regions,
        Level.L4: vocabulary.findings,
    }
    for level, terms in groups.items():
        for style in PhrasingStyle:
            owners: dict[str, Term] = {}
            for term in terms:
                for wording in term.wordings.get(style, ()):
                    owner = owners.setdefault(normalised(wording.bare), term)
                    if owner is not term:
                        yield (
                            f"{vocabulary.modality} {level} {style}: {wording.text!r} names both {owner.key!r} and "
                            f"{term.key!r}."
                        )


def _missing_sets(vocabulary: Vocabulary, sets: Sequence[ProbeSet]) -> Iterator[str]:
    there = {(each.level, each.style, each.subtype, each.selection) for each in sets}
    for level, style, subtype, selection in _wanted_sets(vocabulary):
        if (level, style, subtype, selection) not in there:
            words = " ".join(word for word in (level, style, subtype, selection) if word is not None)
            yield f"{vocabulary.modality}: there is no set {words}."


def _wanted_sets(
    vocabulary: Vocabulary,
) -> Iterator[tuple[Level, PhrasingStyle, NegationSubtype | None, AnchorSelection]]:
    """L1 to L3 in one style, L4 and L5 in four, L5 by subtype, and the reversed set where a label is normal."""
    for level in (Level.L1, Level.L2, Level.L3):
        yield level, PhrasingStyle.TEMPLATE, None, AnchorSelection.ALL
    for style in PhrasingStyle:
        yield Level.L4, style, None, AnchorSelection.ALL
        yield Level.L5, style, NegationSubtype.MIXED, AnchorSelection.FINDING
    for subtype in NegationSubtype:
        if subtype is not NegationSubtype.MIXED:
            yield Level.L5, PhrasingStyle.TEMPLATE, subtype, AnchorSelection.FINDING
    if any(term.key == NO_FINDING for term in vocabulary.concepts(Level.L5)):
        yield Level.L5, PhrasingStyle.TEMPLATE, NegationSubtype.MIXED, AnchorSelection.NO_FINDING


def _variants(vocabulary: Vocabulary, probe_set: ProbeSet) -> Iterator[str]:
    """Every concept of the set is there, with the same three templates or more in the same order."""
    templates: dict[str, list[str]] = {}
    for probe in probe_set.probes:
        templates.setdefault(probe.concept, []).append(probe.template)
    for concept in _wanted_concepts(vocabulary, probe_set):
        if concept not in templates:
            yield f"{_place(probe_set)}, concept {concept!r}: there is no probe."
    wanted = _wanted_templates(vocabulary, probe_set)
    if len(wanted) < MIN_VARIANTS:
        yield f"{_place(probe_set)}: there are {len(wanted)} template variants; {MIN_VARIANTS} are needed."
    for concept, found in templates.items():
        if found != wanted:
            other = next((template for template in found if template not in wanted), f"{len(found)} templates")
            yield f"{_place(probe_set)}, concept {concept!r}, template {other!r}: the set's templates are {wanted}."


def _wanted_concepts(vocabulary: Vocabulary, probe_set: ProbeSet) -> list[str]:
    keys = [term.key for term in vocabulary.concepts(probe_set.level)]
    if probe_set.selection is AnchorSelection.NO_FINDING:
        return [NO_FINDING]
    return [key for key in keys if key != NO_FINDING or probe_set.selection is AnchorSelection.ALL]


def _wanted_templates(vocabulary: Vocabulary, probe_set: ProbeSet) -> list[str]:
    image = vocabulary.region_image if probe_set.level is Level.L3 else vocabulary.images[probe_set.style]
    return [
        fill(frame, image_slots(image))
        for frames in vocabulary.frames
        if (frames.level, frames.style) == (probe_set.level, probe_set.style)
        for frame in frames.frames
    ]


def _lengths(probe_set: ProbeSet) -> Iterator[str]:
    """Below L5 both sides are of like length; a negation is longer than what it negates."""
    if probe_set.level is Level.L5 or not probe_set.probes:
        return
    for unit, length, mean_bound, largest_bound in (
        ("words", word_count, MEAN_WORDS, LARGEST_WORDS),
        ("characters", len, MEAN_CHARACTERS, LARGEST_CHARACTERS),
    ):
        mean = length_difference(probe_set.probes, length).mean
        if abs(mean) > mean_bound:
            yield f"{_place(probe_set)}: positives and negatives differ by {mean:.2f} {unit} on average."
        for probe in probe_set.probes:
            difference = probe_difference(probe, length)
            if abs(difference) > largest_bound:
                fault = f"has positives and negatives that differ by {difference:.2f} {unit}"
                yield _named(probe_set, probe, probe.template, fault)


def _truncations(probe_set: ProbeSet, count_tokens: TokenCounter) -> Iterator[str]:
    """Every model family reads every text to its end."""
    smallest = min(TEXT_LIMITS.values())
    for probe in probe_set.probes:
        texts = (*probe.positives, *probe.negatives)
        for text, count in zip(texts, count_tokens(texts), strict=True):
            if count > smallest:
                families = ", ".join(f"{name} ({limit})" for name, limit in TEXT_LIMITS.items() if count > limit)
                yield _named(probe_set, probe, text, f"has up to {count} tokens, too many for {families}")

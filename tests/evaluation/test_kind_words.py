"""Words on kinds of pictures teach what the probes ask about, so none of them may be a probe."""

import re
from itertools import combinations

from evaluation.suites.medtec.probe_reading import read_probe_sets
from evaluation.suites.medtec.vocabulary_reading import read_vocabulary
from evaluation.suites.medtec.wordings import normalised
from evaluation.suites.mini.kind_words import SITES, THINGS, all_kinds
from evaluation.vocabulary import Modality

# The everyday objects of the probes' first level, and what else they are called.
PROBED_THINGS = re.compile(r"guitar|banana|tea ?pot|umbrella|mountain bike|mug|bus\b|retriever|rocking chair|espresso")


def own_texts() -> set[str]:
    groups = (*(kind.captions for kind in all_kinds()), *SITES.values(), *THINGS)
    return {text for texts in groups for text in texts}


def test_no_text_is_a_probe() -> None:
    probed = {
        normalised(text)
        for modality in Modality
        for probe_set in read_probe_sets(modality)
        for probe in probe_set.probes
        for text in (*probe.positives, *probe.negatives)
    }
    assert len(probed) > 10_000
    assert not {normalised(text) for text in own_texts()} & probed


def test_no_text_has_the_frame_of_a_probe() -> None:
    """The fixed words of a frame in their order, with anything in its slots; one preposition alone is no frame."""
    frames = {frame for modality in Modality for kind in read_vocabulary(modality).frames for frame in kind.frames}
    pieces = [re.findall(r"[\w ]*\w", re.sub(r"\{[^{}]*\}", "|", frame)) for frame in sorted(frames)]
    patterns = [
        re.compile(r"\b" + r"\b.+\b".join(words) + r"\b", re.IGNORECASE)
        for words in ([piece.strip() for piece in found] for found in pieces)
        if len(" ".join(words).split()) > 1
    ]
    assert len(patterns) > 20
    assert any(pattern.search("a picture that shows a lung") for pattern in patterns)
    for text in own_texts():
        assert not any(pattern.search(text) for pattern in patterns), text


def test_the_things_are_not_those_of_the_probes() -> None:
    named = [name for pair in THINGS for name in pair]
    assert len(named) == len({normalised(name) for name in named})
    assert not [name for name in named if PROBED_THINGS.search(name)]


def test_a_caption_belongs_to_one_kind() -> None:
    kinds = list(all_kinds())
    assert len({kind.key for kind in kinds}) == len(kinds)
    captions = {kind.key: {normalised(caption) for caption in kind.captions} for kind in kinds}
    captions |= {site: {normalised(name) for name in names} for site, names in SITES.items()}
    for one, other in combinations(captions, 2):
        assert not captions[one] & captions[other], (one, other)

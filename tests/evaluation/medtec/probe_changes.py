"""Ways to break probe sets, for the tests of what is refused."""

from collections.abc import Callable
from dataclasses import replace

from evaluation.probe_types import Probe, ProbeSet
from evaluation.suites.medtec.vocabulary_reading import VOCABULARIES
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype, PhrasingStyle

Sets = tuple[ProbeSet, ...]


def pick(
    sets: Sets,
    level: Level,
    style: PhrasingStyle = PhrasingStyle.TEMPLATE,
    subtype: NegationSubtype | None = None,
    *,
    reversed_set: bool = False,
) -> ProbeSet:
    """The one set of this kind; at L5 the subtype is mixed unless named."""
    if level is Level.L5 and subtype is None:
        subtype = NegationSubtype.MIXED
    (found,) = (
        each
        for each in sets
        if (each.level, each.style, each.subtype) == (level, style, subtype)
        and (each.selection is AnchorSelection.NO_FINDING) == reversed_set
    )
    return found


def probe_of(probe_set: ProbeSet, concept: str, variant: int = 0) -> Probe:
    return [probe for probe in probe_set.probes if probe.concept == concept][variant]


def swapped(sets: Sets, old: ProbeSet, new: ProbeSet) -> Sets:
    return tuple(new if each is old else each for each in sets)


def with_probe(sets: Sets, probe_set: ProbeSet, old: Probe, change: Callable[[Probe], Probe]) -> Sets:
    """The sets with one probe changed."""
    probes = tuple(change(probe) if probe is old else probe for probe in probe_set.probes)
    return swapped(sets, probe_set, replace(probe_set, probes=probes))


def copied_vocabularies(folder):
    """A folder with all vocabulary files, to be spoilt."""
    for path in VOCABULARIES.glob("*.yaml"):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder

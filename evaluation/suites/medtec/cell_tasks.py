"""Makes the task of one cell from an anchor set and the probe sets of its modality."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evaluation.errors import SuiteInvalid
from evaluation.manifest import canonical_sha256
from evaluation.probe_tasks import CellTask, ProbeTexts
from evaluation.probe_types import NO_FINDING, Anchor, AnchorSet, Probe, ProbeSet, ProbeTaskSpec
from evaluation.suites.medtec.anchor_inputs import BLIND_IMAGES, anchor_input, blind_inputs, is_volume
from evaluation.suites.medtec.input_numbers import InputNumbers
from evaluation.vocabulary import AnchorSelection, Level, NegationSubtype, PhrasingStyle

_MAIN_SUBTYPES = (None, NegationSubtype.MIXED)


def cell_task(
    folder: Path,
    spec: ProbeTaskSpec,
    *,
    anchor_set: AnchorSet,
    probe_set: ProbeSet,
    modality_sets: Sequence[ProbeSet],
    takes_volumes: bool,
    numbers: InputNumbers,
) -> CellTask:
    """Choose the task's anchors, find each one's probes, and number everything that is embedded.

    Anchors of which the publisher gives no region, or one that no probe speaks of, are left out of L3 and counted. At
    other levels an anchor without a probe is an error.

    Args:
        folder: the suite's.
        spec: the task's declaration.
        anchor_set: what its manifest holds.
        probe_set: the texts that it names.
        modality_sets: all probe sets of its modality; the spread of cosines is taken over the main ones.
        takes_volumes: whether the model sees a volume as one.
        numbers: new, or one that is shared by nothing else.

    Raises:
        SuiteInvalid: no anchor is left, an anchor has no probe, or concepts differ in their number of templates.
        InputUnreadable: an image cannot be read.
    """
    by_concept = _by_concept(probe_set, where=spec.name)
    rows, left_out = _chosen(spec, anchor_set, probe_set)
    chosen = [anchor_set.anchors[row].concept(probe_set.level) for row in rows]
    concepts = sorted(set(chosen))
    images = tuple(
        numbers.of(anchor_input(folder, anchor, takes_volumes=takes_volumes)) for anchor in anchor_set.anchors
    )
    probes = tuple(tuple(_numbered(probe, numbers) for probe in by_concept[concept]) for concept in concepts)
    scale_texts = main_texts(modality_sets, anchor_set)
    as_volumes = takes_volumes and all(is_volume(folder, anchor) for anchor in anchor_set.anchors)
    blank, noise = (numbers.of(source) for source in blind_inputs(as_volumes=as_volumes))
    return CellTask(
        spec=spec,
        scale_texts=tuple(numbers.of_text(text) for text in scale_texts),
        inputs=numbers.inputs,
        keys=numbers.keys,
        data_sha256=_data_sha256(anchor_set, rows, [by_concept[concept] for concept in chosen], scale_texts, numbers),
        anchor_set=anchor_set.name,
        images=images,
        clusters=tuple(anchor.cluster for anchor in anchor_set.anchors),
        anchors=tuple(rows),
        concepts=tuple(concepts.index(concept) for concept in chosen),
        probes=probes,
        blind_images=(blank, noise),
        left_out=left_out,
    )


def main_texts(modality_sets: Sequence[ProbeSet], anchor_set: AnchorSet) -> tuple[str, ...]:
    """The distinct texts of the main probe sets, of concepts that occur among the anchors, sorted.

    Main are those in the template style with mixed negation; the reversed one of "no finding" is not.
    """
    texts: set[str] = set()
    for probe_set in modality_sets:
        if (
            probe_set.style is PhrasingStyle.TEMPLATE
            and probe_set.subtype in _MAIN_SUBTYPES
            and probe_set.selection is not AnchorSelection.NO_FINDING
        ):
            present = {anchor.concept(probe_set.level) for anchor in anchor_set.anchors}
            for probe in probe_set.probes:
                if probe.concept in present:
                    texts.update((*probe.positives, *probe.negatives))
    return tuple(sorted(texts))


def _chosen(spec: ProbeTaskSpec, anchor_set: AnchorSet, probe_set: ProbeSet) -> tuple[list[int], dict[str, int]]:
    """Rows of the manifest that the task takes, and how many are left out for want of a probe, by concept."""
    known = {probe.concept for probe in probe_set.probes}
    rows: list[int] = []
    without: Counter[str] = Counter()
    for row, anchor in enumerate(anchor_set.anchors):
        if not _selects(spec.selection, anchor):
            continue
        concept = anchor.concept(probe_set.level)
        if concept in known:
            rows.append(row)
        elif probe_set.level is Level.L3:
            without[concept if anchor.region else ""] += 1
        else:
            raise SuiteInvalid(
                f"{spec.name}: {anchor.anchor_id} has the concept {concept!r}, of which no probe speaks; known are "
                f"{', '.join(sorted(known))}. Correct the anchor manifest or the probes."
            )
    if not rows:
        raise SuiteInvalid(f"{spec.name}: none of the {len(anchor_set.anchors)} anchors is left. Build other anchors.")
    return rows, dict(without)


def _selects(selection: AnchorSelection, anchor: Anchor) -> bool:
    if selection is AnchorSelection.ALL:
        return True
    return (anchor.label == NO_FINDING) is (selection is AnchorSelection.NO_FINDING)


def _by_concept(probe_set: ProbeSet, *, where: str) -> dict[str, list[Probe]]:
    found: dict[str, list[Probe]] = {}
    for probe in probe_set.probes:
        found.setdefault(probe.concept, []).append(probe)
    if len({len(probes) for probes in found.values()}) != 1:
        counts = ", ".join(f"{concept} {len(probes)}" for concept, probes in found.items())
        raise SuiteInvalid(f"{where}: concepts have unequal numbers of templates: {counts}. Build the probes again.")
    return found


def _numbered(probe: Probe, numbers: InputNumbers) -> ProbeTexts:
    return ProbeTexts(
        positives=tuple(numbers.of_text(text) for text in probe.positives),
        negatives=tuple(numbers.of_text(text) for text in probe.negatives),
    )


def _data_sha256(
    anchor_set: AnchorSet,
    rows: Sequence[int],
    probes: Sequence[Sequence[Probe]],
    scale_texts: Sequence[str],
    numbers: InputNumbers,
) -> str:
    """Covers files, slices, clusters and texts: equal for models that are given volumes and that are given slices."""
    anchors = [[anchor.sha256, anchor.slice_index, anchor.window, anchor.cluster] for anchor in anchor_set.anchors]
    texts = [[[probe.positives, probe.negatives] for probe in variants] for variants in probes]
    blind = [numbers.hashes.of(path) for path in BLIND_IMAGES]
    return canonical_sha256([anchor_set.name, anchors, list(rows), texts, list(scale_texts), blind])

"""The manifest of a MedTEC suite, derived from the anchor, question and protocol files that lie in its folder."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from evaluation.errors import SuiteInvalid
from evaluation.manifest import MANIFEST_NAME
from evaluation.probe_manifest import probe_suite_to_json, read_probe_manifest
from evaluation.probe_types import NO_FINDING, Anchor, ProbeSet, ProbeSuiteSpec, ProbeTaskSpec
from evaluation.suites.medtec.anchors.catalogue import DATA_SETS
from evaluation.suites.medtec.anchors.manifest import FOLDER as ANCHORS
from evaluation.suites.medtec.anchors.manifest import AnchorHeader, read_anchor_set, read_header
from evaluation.suites.medtec.probe_reading import read_probe_sets
from evaluation.suites.medtec.protocols import (
    CAPTIONS_ENDING,
    ProtocolHead,
    read_captions,
    read_label_matrix,
)
from evaluation.suites.medtec.protocols import FOLDER as PROTOCOLS
from evaluation.suites.medtec.questions import FOLDER as QUESTIONS
from evaluation.suites.medtec.questions import read_questions
from evaluation.vocabulary import (
    LEVEL_TITLES,
    MODALITY_TITLES,
    AnchorSelection,
    Modality,
    NegationSubtype,
    PhrasingStyle,
    ProbeTaskKind,
)

ProbeSource = Callable[[Modality], tuple[ProbeSet, ...]]


def read_probe_suite(folder: Path) -> ProbeSuiteSpec:
    """Read the manifest of the probing suite in a folder.

    Raises:
        SuiteInvalid: the manifest cannot be read, is of another kind of suite, or breaks the format.
    """
    return read_probe_manifest(folder / MANIFEST_NAME)


def write_probe_suite(folder: Path, *, slug: str, version: str, title: str, synthetic: bool) -> ProbeSuiteSpec:
    """Write the manifest that fits what lies in the folder today, and return it.

    Raises:
        SuiteInvalid: a file in the folder breaks its format, anchors have a concept without probes, or there is no task.
    """
    tasks = derive_tasks(folder, read_probe_sets)
    if not tasks:
        raise SuiteInvalid(f"{folder} holds no anchors, questions or protocol files. Build anchors into it first.")
    suite = ProbeSuiteSpec(slug=slug, version=version, title=title, synthetic=synthetic, tasks=tasks)
    text = json.dumps(probe_suite_to_json(suite), indent=1, ensure_ascii=False)
    (folder / MANIFEST_NAME).write_text(text + "\n", encoding="utf-8")
    return suite


def derive_tasks(folder: Path, probe_sets: ProbeSource) -> tuple[ProbeTaskSpec, ...]:
    """The cells of every anchor set, then questions, retrieval and zero-shot tasks.

    Raises:
        SuiteInvalid: a file in the folder breaks its format, or anchors have a concept without probes.
    """
    tasks: list[ProbeTaskSpec] = []
    seen: Counter[Modality] = Counter()
    for path in _in_order(folder / ANCHORS, ".csv"):
        anchors = read_anchor_set(path).anchors
        header = read_header(path)
        suffix = f"@{header.name}" if seen[header.modality] else ""
        seen[header.modality] += 1
        asked = [probes for probes in probe_sets(header.modality) if probes.level in header.levels]
        applying = [probes for probes in asked if _apply(probes, anchors, path)]
        tasks += [_cell(path.relative_to(folder).as_posix(), header, probes, suffix) for probes in applying]
    return (*tasks, *_question_tasks(folder), *_protocol_tasks(folder))


def _in_order(folder: Path, ending: str) -> list[Path]:
    """Files by the catalogue's order of data sets, unknown ones last by name."""
    ranks = {name: rank for rank, name in enumerate(DATA_SETS)}
    files = [path for path in folder.glob(f"*{ending}") if path.name.partition(".")[2] == ending.removeprefix(".")]
    return sorted(files, key=lambda path: (ranks.get(path.name.partition(".")[0], len(ranks)), path.name))


def selected(anchors: Iterable[Anchor], selection: AnchorSelection) -> tuple[Anchor, ...]:
    """The anchors that a task takes."""
    if selection is AnchorSelection.ALL:
        return tuple(anchors)
    wanted = selection is AnchorSelection.NO_FINDING
    return tuple(anchor for anchor in anchors if (anchor.label == NO_FINDING) is wanted)


def _apply(probes: ProbeSet, anchors: Sequence[Anchor], path: Path) -> bool:
    """Whether there are anchors that the probes speak of; anchors of which they do and do not mixed are an error."""
    concepts = Counter(anchor.concept(probes.level) for anchor in selected(anchors, probes.selection))
    known = {probe.concept for probe in probes.probes}
    if not known.intersection(concepts):
        return False
    without = sorted(concept for concept in concepts if concept not in known)
    if without:
        raise SuiteInvalid(
            f"{path}: {probes.modality} has no {probes.level} probes for {', '.join(without)}. "
            "Add the concept to the probe texts, or build the anchors without it."
        )
    return True


def _cell(data_path: str, header: AnchorHeader, probes: ProbeSet, suffix: str) -> ProbeTaskSpec:
    parts = [probes.modality.value, probes.level.value]
    words = [MODALITY_TITLES[probes.modality], LEVEL_TITLES[probes.level].lower()]
    if probes.selection is AnchorSelection.NO_FINDING:
        parts.append(NO_FINDING)
        words.append("images without finding")
    elif probes.subtype not in (None, NegationSubtype.MIXED):
        parts.append(str(probes.subtype))
        words.append(str(probes.subtype).replace("_", " "))
    if probes.style is not PhrasingStyle.TEMPLATE:
        parts.append(probes.style.value)
        words.append(f"{probes.style} style")
    if suffix:
        words.append(header.title)
    return ProbeTaskSpec(
        name=".".join(parts) + suffix,
        title=", ".join(words),
        kind=ProbeTaskKind.CELL,
        modality=probes.modality,
        level=probes.level,
        style=probes.style,
        subtype=probes.subtype,
        selection=probes.selection,
        dataset=header.name,
        data_path=data_path,
        probes_sha256=probes.sha256,
        licence=header.licence,
        images_may_be_shown=header.images_may_be_shown,
        notes=header.notes,
    )


def _question_tasks(folder: Path) -> list[ProbeTaskSpec]:
    tasks = []
    for path in _in_order(folder / QUESTIONS, ".json"):
        found = read_questions(path)
        closed = len(found.questions) + len(found.without_rule)
        notes = f"{closed} closed questions, {len(found.without_rule)} of them without a rule and not scored."
        head = ProtocolHead(found.dataset, found.title, None, found.licence, found.images_may_be_shown)
        name = f"{found.dataset}.closed_questions"
        tasks.append(_other_task(name, ProbeTaskKind.CLOSED_QUESTIONS, head, path.relative_to(folder), notes))
    return tasks


def _protocol_tasks(folder: Path) -> list[ProbeTaskSpec]:
    """Retrieval and zero-shot tasks; a modality's first data set of each kind has the bare name."""
    tasks = []
    seen: Counter[str] = Counter()
    for kind, ending in ((ProbeTaskKind.RETRIEVAL, CAPTIONS_ENDING), (ProbeTaskKind.ZERO_SHOT, ".json")):
        for path in _in_order(folder / PROTOCOLS, ending):
            head, notes = _protocol_facts(path, kind)
            name = f"{head.modality}.{kind}"
            suffix = f"@{head.dataset}" if seen[name] else ""
            seen[name] += 1
            tasks.append(_other_task(name + suffix, kind, head, path.relative_to(folder), notes))
    return tasks


def _protocol_facts(path: Path, kind: ProbeTaskKind) -> tuple[ProtocolHead, str]:
    if kind is ProbeTaskKind.RETRIEVAL:
        captions = read_captions(path)
        return captions.head, f"{len(captions.paths)} images with {len(set(captions.captions))} different texts."
    matrix = read_label_matrix(path)
    return matrix.head, f"{len(matrix.paths)} images, {len(matrix.labels)} labels."


def _other_task(name: str, kind: ProbeTaskKind, head: ProtocolHead, path: Path, notes: str) -> ProbeTaskSpec:
    return ProbeTaskSpec(
        name=name,
        title=f"{head.title}, {kind.replace('_', ' ').replace('zero shot', 'zero-shot')}",
        kind=kind,
        modality=head.modality,
        level=None,
        style=None,
        subtype=None,
        selection=AnchorSelection.ALL,
        dataset=head.dataset,
        data_path=path.as_posix(),
        probes_sha256="",
        licence=head.licence,
        images_may_be_shown=head.images_may_be_shown,
        notes=notes,
    )

"""The committed probe sets, read strictly."""

from functools import cache
from pathlib import Path
from typing import Any

from evaluation.errors import SuiteInvalid
from evaluation.probe_types import Probe, ProbeSet, ProbeTaskSpec
from evaluation.suites.medtec.probe_building import probes_sha256
from evaluation.suites.medtec.probe_writing import SCHEMA_VERSION
from evaluation.suites.medtec.strict_yaml import filled, listed, member, read_yaml, record, texts
from evaluation.vocabulary import AnchorSelection, Level, Modality, NegationSubtype, PhrasingStyle

PROBES = Path(__file__).parent / "probes"

_SET_KEYS = ("level", "style", "subtype", "selection", "version", "sha256", "probes")


@cache
def read_probe_sets(modality: Modality) -> tuple[ProbeSet, ...]:
    """The probe sets of a modality that come with this program, in the order of its file.

    Raises:
        SuiteInvalid: the file is missing, breaks the format, or was edited by hand.
    """
    return read_probe_file(PROBES / f"{modality}.yaml", modality)


def probe_set_for(spec: ProbeTaskSpec) -> ProbeSet:
    """The probe set of a task.

    Raises:
        SuiteInvalid: there is no such set, or its texts are no longer those that the task was made with.
    """
    if spec.modality is None:
        raise SuiteInvalid(f"Task {spec.name!r} names no modality, so it has no probes. Build the suite again.")
    wanted = (spec.level, spec.style, spec.subtype, spec.selection)
    for probe_set in read_probe_sets(spec.modality):
        if (probe_set.level, probe_set.style, probe_set.subtype, probe_set.selection) == wanted:
            return _as_declared(spec, probe_set)
    words = ", ".join(str(word) for word in wanted if word is not None)
    raise SuiteInvalid(f"Task {spec.name!r}: {spec.modality} has no probe set of {words}. Build the suite again.")


def _as_declared(spec: ProbeTaskSpec, probe_set: ProbeSet) -> ProbeSet:
    if probe_set.sha256 != spec.probes_sha256:
        raise SuiteInvalid(
            f"Task {spec.name!r} was made with other probe texts (sha256 {spec.probes_sha256!r}) than this program has "
            f"({probe_set.sha256}). Build the suite again, or use the program that built it."
        )
    return probe_set


def read_probe_file(path: Path, modality: Modality) -> tuple[ProbeSet, ...]:
    """The probe sets of one file.

    Raises:
        SuiteInvalid: the file is missing, breaks the format, is of another modality, holds a set twice, or has a set
            whose sha256 is not that of its texts.
    """
    fields = record(read_yaml(path), ("schema_version", "modality", "sets"), where=str(path))
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SuiteInvalid(f"{path}: schema_version is {fields['schema_version']!r}; expected {SCHEMA_VERSION}.")
    if member(Modality, fields["modality"], where=f"{path}: modality") is not modality:
        raise SuiteInvalid(f"{path}: modality is {fields['modality']!r}, expected {str(modality)!r}.")
    found: dict[tuple[str | None, ...], ProbeSet] = {}
    for number, item in enumerate(listed(fields["sets"], where=f"{path}: sets")):
        where = f"{path}: set {number}"
        probe_set = _probe_set(item, modality, where=where)
        key = (probe_set.level, probe_set.style, probe_set.subtype, probe_set.selection)
        if key in found:
            raise SuiteInvalid(f"{where}: a set of this level, style, subtype and selection stands there already.")
        found[key] = probe_set
    return tuple(found.values())


def _probe_set(value: Any, modality: Modality, *, where: str) -> ProbeSet:
    fields = record(value, _SET_KEYS, where=where)
    subtype = fields["subtype"]
    probe_set = ProbeSet(
        modality=modality,
        level=member(Level, fields["level"], where=f"{where}: level"),
        style=member(PhrasingStyle, fields["style"], where=f"{where}: style"),
        subtype=None if subtype is None else member(NegationSubtype, subtype, where=f"{where}: subtype"),
        selection=member(AnchorSelection, fields["selection"], where=f"{where}: selection"),
        version=filled(fields["version"], where=f"{where}: version"),
        probes=tuple(
            _probe(item, where=f"{where}: probe {number}")
            for number, item in enumerate(listed(fields["probes"], where=f"{where}: probes"))
        ),
        sha256=filled(fields["sha256"], where=f"{where}: sha256"),
    )
    if probe_set.sha256 != probes_sha256(probe_set):
        raise SuiteInvalid(f"{where}: its sha256 is not that of its texts. Run 'build probes' instead of editing it.")
    return probe_set


def _probe(value: Any, *, where: str) -> Probe:
    fields = record(value, ("concept", "template", "source", "positives", "negatives"), where=where)
    return Probe(
        concept=filled(fields["concept"], where=f"{where}: concept"),
        template=filled(fields["template"], where=f"{where}: template"),
        positives=_side(fields["positives"], where=f"{where}: positives"),
        negatives=_side(fields["negatives"], where=f"{where}: negatives"),
        source=filled(fields["source"], where=f"{where}: source"),
    )


def _side(value: Any, *, where: str) -> tuple[str, ...]:
    found = texts(value, where=where)
    if not found:
        raise SuiteInvalid(f"{where}: at least one text is needed.")
    return found

"""The hand-written vocabularies, read strictly."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.errors import SuiteInvalid
from evaluation.suites.medtec.probe_vocabulary import Clause, Frames, Term, Vocabulary, Wordings
from evaluation.suites.medtec.strict_yaml import filled, flag, listed, member, read_yaml, record, texts
from evaluation.suites.medtec.wordings import Wording, slot_names
from evaluation.vocabulary import Level, Modality, NegationSubtype, PhrasingStyle

VOCABULARIES = Path(__file__).parent / "vocabularies"
SKIN_SITES = "skin_sites"

_MODALITY_KEYS = ("modality", "evidence", "images", "own_image", "other_images", "regions", "findings")
_NAMED = frozenset({"concept", "bare"})
_VERBS = frozenset({"is", "has", "was"})
_IMAGE = frozenset({"image", "bare_image"})

_FINDING_KEYS = ("key", "lists", "parents", "excludes", "incidental", "source", "names", "ontology", "lay")


@cache
def read_vocabulary(modality: Modality, folder: Path = VOCABULARIES) -> Vocabulary:
    """The vocabulary of a modality, with what all modalities share.

    Raises:
        SuiteInvalid: a file is missing or breaks the format; the message names file and place.
    """
    path = folder / f"{modality}.yaml"
    fields = record(read_yaml(path), (*_MODALITY_KEYS, "further_findings"), where=str(path))
    if fields["modality"] != modality:
        raise SuiteInvalid(f"{path}: modality is {fields['modality']!r}, the file's name says {str(modality)!r}.")
    evidence = record(fields["evidence"], ("word", "source"), where=f"{path}: evidence")
    filled(evidence["source"], where=f"{path}: evidence: source")
    images = _images(fields["images"], where=f"{path}: images")
    assertions, normality, constructions = _clauses(folder / "negation.yaml")
    return Vocabulary(
        modality=modality,
        evidence=filled(evidence["word"], where=f"{path}: evidence: word"),
        images={style: images[style] for style in PhrasingStyle},
        region_image=images["region"],
        own_image=_own_image(fields["own_image"], modality, where=f"{path}: own_image"),
        objects=_objects(folder / "objects.yaml"),
        other_images=_named(fields["other_images"], where=f"{path}: other_images"),
        regions=_regions_of(fields["regions"], folder, where=f"{path}: regions"),
        findings=_findings(fields, where=str(path)),
        frames=_frames(folder / "templates.yaml"),
        assertions=assertions,
        normality=normality,
        constructions=constructions,
    )


def _wording(value: Any, *, where: str) -> Wording:
    if isinstance(value, dict):
        fields = record(value, ("text", "plural"), where=where)
        return Wording(filled(fields["text"], where=where), is_plural=flag(fields["plural"], where=where))
    return Wording(filled(value, where=where))


def _wordings(value: Any, *, where: str) -> tuple[Wording, ...]:
    found = tuple(
        _wording(item, where=f"{where}: item {number}") for number, item in enumerate(listed(value, where=where))
    )
    if not found:
        raise SuiteInvalid(f"{where}: at least one wording is needed.")
    return found


def _images(value: Any, *, where: str) -> Mapping[str, Wording]:
    kinds = (*PhrasingStyle, "region")
    fields = record(value, ("source", *kinds), where=where)
    filled(fields["source"], where=f"{where}: source")
    return {kind: _wording(fields[kind], where=f"{where}: {kind}") for kind in kinds}


def _own_image(value: Any, modality: Modality, *, where: str) -> Term:
    fields = record(value, ("names", "source"), where=where)
    return Term(
        key=modality,
        wordings=_plain(_wordings(fields["names"], where=f"{where}: names")),
        source=filled(fields["source"], where=f"{where}: source"),
        is_anchor=True,
    )


def _plain(wordings: tuple[Wording, ...]) -> Wordings:
    return {PhrasingStyle.TEMPLATE: wordings}


def _named(value: Any, *, where: str) -> tuple[Term, ...]:
    """Terms that only ever are false texts: a key, names and a source."""
    terms = []
    for number, item in enumerate(listed(value, where=where)):
        place = f"{where}: item {number}"
        fields = record(item, ("key", "names", "source"), where=place)
        names = _wordings(fields["names"], where=f"{place}: names")
        source = filled(fields["source"], where=f"{place}: source")
        terms.append(Term(key=filled(fields["key"], where=f"{place}: key"), wordings=_plain(names), source=source))
    return _distinct(terms, where=where)


@cache
def _objects(path: Path) -> tuple[Term, ...]:
    return _named(record(read_yaml(path), ("objects",), where=str(path))["objects"], where=f"{path}: objects")


def _regions_of(value: Any, folder: Path, *, where: str) -> tuple[Term, ...]:
    """The regions that a modality lists itself, or the sites of the skin."""
    if value == SKIN_SITES:
        path = folder / f"{SKIN_SITES}.yaml"
        return _regions(record(read_yaml(path), ("sites",), where=str(path))["sites"], where=f"{path}: sites")
    return _regions(value, where=where)


def _regions(value: Any, *, where: str) -> tuple[Term, ...]:
    terms = []
    for number, item in enumerate(listed(value, where=where)):
        place = f"{where}: item {number}"
        fields = record(item, ("key", "anchors", "names", "related", "source"), where=place)
        terms.append(
            Term(
                key=filled(fields["key"], where=f"{place}: key"),
                wordings=_plain(_wordings(fields["names"], where=f"{place}: names")),
                source=filled(fields["source"], where=f"{place}: source"),
                is_anchor=flag(fields["anchors"], where=f"{place}: anchors"),
                related=frozenset(texts(fields["related"], where=f"{place}: related")),
            )
        )
    _check_known([(term.key, term.related) for term in terms], where=where)
    return _distinct(terms, where=where)


def _findings(fields: Mapping[str, Any], *, where: str) -> tuple[Term, ...]:
    terms: list[Term] = []
    parents: dict[str, frozenset[str]] = {}
    for group in ("findings", "further_findings"):
        for number, item in enumerate(listed(fields[group], where=f"{where}: {group}")):
            place = f"{where}: {group}: item {number}"
            entry = record(item, _FINDING_KEYS, where=place)
            term = _finding(entry, is_anchor=group == "findings", where=place)
            parents[term.key] = frozenset(texts(entry["parents"], where=f"{place}: parents"))
            terms.append(term)
    _check_known([(term.key, term.related | parents[term.key]) for term in terms], where=where)
    ancestors = {key: _ancestors(key, parents, where=where) for key in parents}
    return _distinct([replace(term, related=term.related | ancestors[term.key]) for term in terms], where=where)


def _finding(entry: Mapping[str, Any], *, is_anchor: bool, where: str) -> Term:
    names, ontology, lay = (
        _wordings(entry[register], where=f"{where}: {register}") for register in ("names", "ontology", "lay")
    )
    return Term(
        key=filled(entry["key"], where=f"{where}: key"),
        wordings={
            PhrasingStyle.TEMPLATE: names,
            PhrasingStyle.REPORT: names,
            PhrasingStyle.ONTOLOGY: ontology,
            PhrasingStyle.PARAPHRASE: lay,
        },
        source=filled(entry["source"], where=f"{where}: source"),
        is_anchor=is_anchor,
        related=frozenset(texts(entry["excludes"], where=f"{where}: excludes")),
        lists=frozenset(texts(entry["lists"], where=f"{where}: lists")),
        is_incidental=flag(entry["incidental"], where=f"{where}: incidental"),
    )


def _ancestors(key: str, parents: Mapping[str, frozenset[str]], *, where: str) -> frozenset[str]:
    """All that a finding implies; a descendant is found from its own side, since relations hold both ways."""
    found: set[str] = set()
    waiting = set(parents[key])
    while waiting:
        ancestor = waiting.pop()
        if ancestor == key:
            raise SuiteInvalid(f"{where}: {key!r} is its own ancestor.")
        if ancestor not in found:
            found.add(ancestor)
            waiting |= parents[ancestor]
    return frozenset(found)


def _check_known(relations: Sequence[tuple[str, frozenset[str]]], *, where: str) -> None:
    keys = {key for key, _ in relations}
    for key, others in relations:
        if unknown := sorted(others - keys):
            raise SuiteInvalid(f"{where}: {key!r} names {unknown[0]!r}, which is no key of this list.")


def _distinct(terms: Sequence[Term], *, where: str) -> tuple[Term, ...]:
    keys = [term.key for term in terms]
    twins = sorted({key for key in keys if keys.count(key) > 1})
    if twins:
        raise SuiteInvalid(f"{where}: the key {twins[0]!r} stands twice.")
    return tuple(terms)


@cache
def _frames(path: Path) -> tuple[Frames, ...]:
    found = []
    value = record(read_yaml(path), ("templates",), where=str(path))["templates"]
    for number, item in enumerate(listed(value, where=f"{path}: templates")):
        place = f"{path}: templates: item {number}"
        fields = record(item, ("level", "style", "source", "frames"), where=place)
        level = member(Level, fields["level"], where=f"{place}: level")
        frames = texts(fields["frames"], where=f"{place}: frames")
        needed = frozenset({"clause"}) if level is Level.L5 else _NAMED
        for frame in frames:
            _check_slots(frame, needed=needed, allowed=_IMAGE if level is Level.L5 else _IMAGE | _VERBS, where=place)
        found.append(
            Frames(
                level=level,
                style=member(PhrasingStyle, fields["style"], where=f"{place}: style"),
                frames=frames,
                source=filled(fields["source"], where=f"{place}: source"),
            )
        )
    return tuple(found)


def _check_slots(text: str, *, needed: frozenset[str], allowed: frozenset[str], where: str) -> None:
    """A frame or clause has one of the slots that it needs, or more, and else only allowed ones."""
    slots = slot_names(text)
    if unknown := sorted(slots - needed - allowed):
        raise SuiteInvalid(f"{where}: {text!r} has the slot {unknown[0]!r}, which nothing fills.")
    if needed and not slots & needed:
        raise SuiteInvalid(f"{where}: {text!r} has none of the slots {', '.join(sorted(needed))}.")


@cache
def _clauses(path: Path) -> tuple[tuple[Clause, ...], tuple[Clause, ...], tuple[Clause, ...]]:
    """The clauses that assert, those that state normality, and those that negate."""
    value = record(read_yaml(path), ("assertions", "normality", "constructions"), where=str(path))
    assertions, normality = (
        tuple(
            _clause(item, needed=needed, where=f"{path}: {group}: item {number}")
            for number, item in enumerate(listed(value[group], where=f"{path}: {group}"))
        )
        for group, needed in (("assertions", _NAMED), ("normality", frozenset[str]()))
    )
    constructions = tuple(
        _construction(item, where=f"{path}: constructions: item {number}")
        for number, item in enumerate(listed(value["constructions"], where=f"{path}: constructions"))
    )
    return assertions, normality, constructions


def _clause(item: Any, *, needed: frozenset[str], where: str) -> Clause:
    fields = record(item, ("text", "source"), where=where)
    text = filled(fields["text"], where=f"{where}: text")
    _check_slots(text, needed=needed, allowed=_VERBS | {"evidence"} if needed else needed, where=where)
    return Clause(text=text, source=filled(fields["source"], where=f"{where}: source"))


def _construction(item: Any, *, where: str) -> Clause:
    fields = record(item, ("subtype", "main", "text", "source"), where=where)
    clause = _clause({"text": fields["text"], "source": fields["source"]}, needed=_NAMED, where=where)
    subtype = member(NegationSubtype, fields["subtype"], where=f"{where}: subtype")
    return replace(clause, subtype=subtype, is_main=flag(fields["main"], where=f"{where}: main"))

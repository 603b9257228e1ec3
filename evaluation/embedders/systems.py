"""The model systems that are known by name, from `systems.yaml`: what they are and how each is loaded and encoded."""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

import yaml

from evaluation.embedders.encode_config import encode_config
from evaluation.errors import EvaluationError, SystemsInvalid
from evaluation.vocabulary import EmbedderFamily

SYSTEMS_FILE = Path(__file__).with_name("systems.yaml")
EMBEDDABLE = ("text", "image", "volume", "mixed")


@dataclass(frozen=True, slots=True)
class KnownSystem:
    """One system. None says that a figure is not known for certain.

    `id` is its repository on the hub, or its name where it is on none. `image_pixels` is the side of the square that an
    image becomes. `conversion` is the name that converts its weights. `source` says where the figures come from.
    """

    id: str
    title: str
    family: EmbedderFamily
    encode_config: str
    dimension: int
    parameters: int | None
    licence: str | None
    gated: bool | None
    weights: str
    context_tokens: int | None
    image_pixels: int | None
    embeds: tuple[str, ...]
    conversion: str | None
    source: str
    notes: str


@cache
def known_systems(file: Path = SYSTEMS_FILE) -> tuple[KnownSystem, ...]:
    """The systems of a file, in its order.

    Raises:
        SystemsInvalid: naming the entry and the field that breaks the format.
    """
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise SystemsInvalid(f"{file.name} cannot be read: {error}.") from error
    if not isinstance(entries, list):
        raise SystemsInvalid(f"{file.name} must hold a list of systems.")
    systems = tuple(_system(f"{file.name}, entry {number}", entry) for number, entry in enumerate(entries, start=1))
    ids = [system.id.lower() for system in systems]
    if len(set(ids)) != len(ids):
        twice = next(name for name in ids if ids.count(name) > 1)
        raise SystemsInvalid(f"{file.name}: {twice} stands twice.")
    return systems


def _system(where: str, entry: Any) -> KnownSystem:
    names = {field.name for field in fields(KnownSystem)}
    if not isinstance(entry, dict) or set(entry) != names:
        found = set(entry) if isinstance(entry, dict) else set()
        wrong = ", ".join(sorted(map(str, found ^ names)))
        raise SystemsInvalid(f"{where}: fields are missing or unknown: {wrong}.")
    facts = {**entry, "family": _family(where, entry["family"]), "embeds": _embeds(where, entry["embeds"])}
    for name, kind in get_type_hints(KnownSystem).items():
        if name not in ("family", "embeds"):
            _require_kind(where, name, facts[name], kind)
    try:
        encode_config(facts["family"], facts["encode_config"] or "none")
    except EvaluationError as error:
        raise SystemsInvalid(f"{where}: {error.message}") from error
    return KnownSystem(**facts)


def _require_kind(where: str, name: str, value: Any, kind: Any) -> None:
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if type(value) not in kinds or value == "" or (type(value) is int and value < 1):
        raise SystemsInvalid(f"{where}: {name} is {value!r}, which it cannot be.")


def _family(where: str, value: Any) -> EmbedderFamily:
    if not isinstance(value, str) or value not in set(EmbedderFamily):
        raise SystemsInvalid(f"{where}: {value!r} is no family.")
    return EmbedderFamily(value)


def _embeds(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or value != [kind for kind in EMBEDDABLE if kind in value]:
        raise SystemsInvalid(f"{where}: embeds lists some of {', '.join(EMBEDDABLE)}, in this order.")
    return tuple(value)

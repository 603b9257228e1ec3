"""Which inputs of a task are packed together, whatever is known of them already.

Rounding lets the last bits of a vector depend on the other rows of its batch. A task's inputs are therefore divided
into lots by the task alone, batches are packed from a whole lot, and a vector is remembered as that of its input in its
lot. So a vector never depends on what was embedded before, by whom, or in which order.
"""

import hashlib
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from evaluation.embedding.decoding_ahead import planned_images
from evaluation.inputs import EmbeddingInput

MAX_IMAGES = 1_024
MAX_TEXTS = 8_192


@dataclass(frozen=True, slots=True)
class Lot:
    """Different inputs with their content keys, in an order that follows from these."""

    inputs: tuple[EmbeddingInput, ...]
    keys: tuple[str, ...]

    def names(self, packing: str) -> list[str]:
        """One name (64 hexadecimal digits) an input, for its vector in batches packed from this lot in this way."""
        lot = hashlib.sha256("\n".join((packing, *self.keys)).encode()).digest()
        return [hashlib.sha256(lot + bytes.fromhex(key)).hexdigest() for key in self.keys]


def divide(inputs: Sequence[EmbeddingInput], keys: Sequence[str], shared: AbstractSet[int]) -> list[Lot]:
    """The lots of a task; each different input is in one.

    Inputs with images and texts never share a batch, so they share no lot. Large lots are cut, so that little has to be
    decoded anew where an interruption left a lot unfinished.

    Args:
        inputs: what the task embeds.
        keys: the content key of each.
        shared: numbers of inputs that other tasks are likely to have too, all together. They make lots of their own,
            so that these tasks share their vectors.
    """
    groups: dict[tuple[bool, bool], dict[str, EmbeddingInput]] = {}
    seen: set[str] = set()
    for number, (source, key) in enumerate(zip(inputs, keys, strict=True)):
        if key not in seen:
            seen.add(key)
            groups.setdefault((bool(source.images), number in shared), {})[key] = source
    return [
        lot
        for (pictured, _), members in sorted(groups.items(), key=lambda item: item[0], reverse=True)
        for lot in (_cut(members, MAX_IMAGES) if pictured else _cut(members, MAX_TEXTS))
    ]


def _cut(members: dict[str, EmbeddingInput], size: int) -> Iterator[Lot]:
    """Lots of at most `size` texts or planned images: inputs with most images first, those of the same images together.

    An embedder embeds what inputs of a batch have in common once.
    """
    ordered = sorted(members.items(), key=lambda member: (-planned_images(member[1]), member[1].images, member[0]))
    lot: list[tuple[str, EmbeddingInput]] = []
    filled = 0
    for key, source in ordered:
        cost = max(1, planned_images(source))
        if lot and filled + cost > size:
            yield _lot(lot)
            lot, filled = [], 0
        lot.append((key, source))
        filled += cost
    yield _lot(lot)


def _lot(members: Sequence[tuple[str, EmbeddingInput]]) -> Lot:
    return Lot(inputs=tuple(source for _, source in members), keys=tuple(key for key, _ in members))

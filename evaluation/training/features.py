"""Features of training pairs from frozen towers, each distinct image and text computed once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.decoding import decode
from evaluation.inputs import EmbeddingInput
from evaluation.training.pairs import LoadedPair, PairSide
from evaluation.types import FloatMatrix

IMAGES_AT_ONCE = 64
ABSENT = -1
Key = TypeVar("Key")


class Towers(Protocol):
    """The frozen image and text towers."""

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """One row an image."""
        ...

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """One row a text."""
        ...


@dataclass(frozen=True, slots=True)
class SideParts:
    """Where the parts of each pair's side stand in the tables of `PairFeatures`, or `ABSENT`; arrays of one length."""

    images: NDArray[np.int64]
    texts: NDArray[np.int64]
    instructions: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PairFeatures:
    """Everything that training needs.

    `images` has a row for each distinct set of images: the mean of their features (a linear projection of the mean is
    the mean of the projections but for the scaling of each to unit length, which training leaves out). `groups` numbers
    the kinds of pairs (file and instruction), `labels` the labels that make positives equally right.
    """

    images: FloatMatrix
    texts: FloatMatrix
    query: SideParts
    positive: SideParts
    groups: NDArray[np.int64]
    labels: NDArray[np.int64]


def pair_features(pairs: Sequence[LoadedPair], towers: Towers) -> PairFeatures:
    """Features of all pairs.

    Raises:
        InputUnreadable: an image cannot be read; the message names it.
    """
    sides = [side for pair in pairs for side in (pair.query, pair.positive)]
    sets = _numbered(side.images for side in sides if side.images)
    texts = _numbered(text for pair in pairs for text in _texts(pair) if text)
    files = _numbered(file for images in sets for file in images)
    file_rows = _image_rows(list(files), towers)
    image_rows = [file_rows[[files[file] for file in images]].mean(axis=0) for images in sets]
    return PairFeatures(
        images=np.stack(image_rows) if image_rows else np.zeros((0, file_rows.shape[1]), np.float32),
        texts=_text_rows(list(texts), towers),
        query=_parts([(pair.query, pair.instruction) for pair in pairs], sets, texts),
        positive=_parts([(pair.positive, "") for pair in pairs], sets, texts),
        groups=_codes((pair.source, pair.instruction) for pair in pairs),
        labels=_codes(
            (pair.source, pair.label) if pair.label else (pair.source, number) for number, pair in enumerate(pairs)
        ),
    )


def _texts(pair: LoadedPair) -> tuple[str, str, str]:
    return pair.instruction, pair.query.text, pair.positive.text


def _numbered(keys: Iterable[Key]) -> dict[Key, int]:
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


def _codes(keys: Iterable[tuple[object, ...]]) -> NDArray[np.int64]:
    listed = list(keys)
    numbers = _numbered(listed)
    return np.array([numbers[key] for key in listed], dtype=np.int64)


def _parts(
    sides: Sequence[tuple[PairSide, str]], sets: dict[tuple[Path, ...], int], texts: dict[str, int]
) -> SideParts:
    return SideParts(
        images=np.array([sets.get(side.images, ABSENT) for side, _ in sides], dtype=np.int64),
        texts=np.array([texts.get(side.text, ABSENT) for side, _ in sides], dtype=np.int64),
        instructions=np.array([texts.get(instruction, ABSENT) for _, instruction in sides], dtype=np.int64),
    )


def _image_rows(files: Sequence[Path], towers: Towers) -> FloatMatrix:
    rows = []
    for start in range(0, len(files), IMAGES_AT_ONCE):
        decoded = [decode(EmbeddingInput(images=(file,))).images[0] for file in files[start : start + IMAGES_AT_ONCE]]
        rows.append(towers.image_features(decoded))
    return np.concatenate(rows) if rows else towers.image_features([])


def _text_rows(texts: Sequence[str], towers: Towers) -> FloatMatrix:
    """Texts of like length go together, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    rows = towers.text_features([texts[number] for number in order])
    return rows[np.argsort(order)]

"""Models with one tower for images and one for texts, in one space."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.decoding import DecodedInput
from evaluation.embedders.kinds import require_kinds
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import InputKind

FloatVector = NDArray[np.float32]

ALL_KINDS = tuple(InputKind)
PARTS_RULE = (
    "mean of the parts (images averaged to one, text, instruction), each as its tower gives it, then unit length"
)

_IMAGES_AT_ONCE = 32


class Towers(Protocol):
    """What a family provides: vectors of images and of texts in one space."""

    @property
    def description(self) -> ModelDescription:
        """What is loaded and how it encodes."""
        ...

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """One row an image, as the tower gives it; shape (len(images), dimension)."""
        ...

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """One row a text, as the tower gives it; shape (len(texts), dimension)."""
        ...

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the tower sees it; 0 where texts are not padded to a common length."""
        ...


class DualEncoder:
    """Embeds mixed inputs with two towers, as the MedHEB release does.

    Each non-empty part goes through its own tower: the images of an input (averaged over several, or over a volume's
    slices), its text, its instruction. The embedding is the mean of the parts. Parts are not scaled to unit length
    before the mean.
    """

    def __init__(self, towers: Towers) -> None:
        self._towers = towers
        self.description = towers.description

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """The mean of the parts of each input, shape (len(batch), dimension)."""
        require_kinds((decoded.source for decoded in batch), self.description)
        images = [image for decoded in batch for image in decoded.images]
        image_rows = self._image_rows(images)
        # One after the other, because short instructions would be padded to the length of the texts.
        text_rows = self._text_rows(decoded.source.text for decoded in batch)
        text_rows |= self._text_rows(decoded.source.instruction for decoded in batch)
        rows = np.empty((len(batch), self.description.dimension), dtype=np.float32)
        start = 0
        for row, decoded in zip(rows, batch, strict=True):
            stop = start + len(decoded.images)
            parts = [text_rows[text].astype(np.float64) for text in _texts(decoded)]
            if stop > start:
                parts.append(image_rows[start:stop].mean(axis=0, dtype=np.float64))
            row[:] = np.mean(parts, axis=0)
            start = stop
        return rows

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Tokens of each text; 0 for an input without text."""
        require_kinds((decoded.source for decoded in batch), self.description)
        texts = _distinct(decoded.source.text for decoded in batch)
        counts = dict(zip(texts, self._towers.token_counts(texts), strict=True)) if texts else {}
        return [counts.get(decoded.source.text.strip(), 0) for decoded in batch]

    def _text_rows(self, texts: Iterable[str]) -> dict[str, FloatVector]:
        distinct = _distinct(texts)
        return dict(zip(distinct, self._towers.text_features(distinct), strict=True)) if distinct else {}

    def _image_rows(self, images: Sequence[Image.Image]) -> FloatMatrix:
        pieces = [
            self._towers.image_features(images[start : start + _IMAGES_AT_ONCE])
            for start in range(0, len(images), _IMAGES_AT_ONCE)
        ]
        return np.concatenate(pieces) if pieces else np.empty((0, self.description.dimension), dtype=np.float32)


def _distinct(texts: Iterable[str]) -> list[str]:
    """The different texts without space around them, in order, without the empty one."""
    return [text for text in dict.fromkeys(text.strip() for text in texts) if text]


def _texts(decoded: DecodedInput) -> list[str]:
    """The text and the instruction, without empty ones."""
    parts = (decoded.source.text.strip(), decoded.source.instruction.strip())
    return [part for part in parts if part]

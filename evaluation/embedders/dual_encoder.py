"""Models with one tower for images and one for texts, in one space."""

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.decoding import DecodedInput
from evaluation.embedders.image_passes import ImagePasses
from evaluation.embedders.kinds import require_kinds
from evaluation.inputs import Plane
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import InputKind

FloatVector = NDArray[np.float32]

ALL_KINDS = tuple(InputKind)
PARTS_RULE = (
    "mean of the parts (images averaged to one, text, instruction), each as its tower gives it, then unit length"
)

_REMEMBERED = 20_000  # vectors: about 60 MB at 768 dimensions

_ImagesKey = tuple[tuple[Path, ...], bool, Plane | None]


class TextSide(Protocol):
    """What every family with towers provides: itself in words, and vectors of texts."""

    @property
    def description(self) -> ModelDescription:
        """What is loaded and how it encodes."""
        ...

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """One row a text, as the tower gives it; shape (len(texts), dimension)."""
        ...

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the tower sees it; 0 where texts are not padded to a common length."""
        ...

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether the tower reads only the beginning of each text."""
        ...


class Towers(TextSide, Protocol):
    """What a family provides: vectors of images and of texts in one space.

    Images of whatever size become arrays of one shape, so that passes of equally many images are alike.
    """

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """One row an image, as the tower gives it; shape (len(images), dimension).

        Among equally many images the row of one has the same bits whatever its place and whatever the others are.
        """
        ...


class PartsEncoder(ABC):
    """Embeds mixed inputs as the mean of their parts, as the MedHEB release does.

    Each non-empty part goes through its own tower: the images of an input, its text, its instruction. The embedding is
    the mean of the parts. Parts are not scaled to unit length before the mean.

    A part that several inputs of a batch have is embedded once, because many questions are asked about one image.
    Vectors of images do not depend on their batch, so they are remembered for later ones. Files must not change while
    an encoder lives.
    """

    def __init__(self, towers: TextSide) -> None:
        self._text_side = towers
        self._image_rows: OrderedDict[_ImagesKey, FloatVector] = OrderedDict()
        self.description = towers.description

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """The mean of the parts of each input, shape (len(batch), dimension)."""
        require_kinds((decoded.source for decoded in batch), self.description)
        image_rows = self._rows_of_images(batch)
        # One after the other, because short instructions would be padded to the length of the texts.
        text_rows = self._text_rows(decoded.source.text for decoded in batch)
        text_rows |= self._text_rows(decoded.source.instruction for decoded in batch)
        rows = np.empty((len(batch), self.description.dimension), dtype=np.float32)
        for row, decoded in zip(rows, batch, strict=True):
            parts = [text_rows[text].astype(np.float64) for text in _texts(decoded)]
            if decoded.images:
                parts.append(image_rows[_images_key(decoded)].astype(np.float64))
            row[:] = np.mean(parts, axis=0)
        return rows

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Tokens of each text; 0 for an input without text."""
        require_kinds((decoded.source for decoded in batch), self.description)
        texts = _distinct(decoded.source.text for decoded in batch)
        counts = dict(zip(texts, self._text_side.token_counts(texts), strict=True)) if texts else {}
        return [counts.get(decoded.source.text.strip(), 0) for decoded in batch]

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether the text tower reads only the beginning of each text."""
        return self._text_side.cuts([text.strip() for text in texts]) if texts else []

    def forget(self) -> None:
        """Forget the vectors of images; for whoever embeds what must not be kept."""
        self._image_rows.clear()

    def _text_rows(self, texts: Iterable[str]) -> dict[str, FloatVector]:
        wanted = _distinct(texts)
        return dict(zip(wanted, self._text_side.text_features(wanted), strict=True)) if wanted else {}

    def _rows_of_images(self, batch: Sequence[DecodedInput]) -> dict[_ImagesKey, FloatVector]:
        """The mean vector of the images of each input that has any, by what they were read from."""
        wanted = {_images_key(decoded): decoded for decoded in batch if decoded.images}
        new = [key for key in wanted if key not in self._image_rows]
        self._image_rows |= zip(new, self._visual_rows([wanted[key] for key in new]), strict=True)
        for key in wanted:
            self._image_rows.move_to_end(key)
        rows = {key: self._image_rows[key] for key in wanted}
        while len(self._image_rows) > _REMEMBERED:
            self._image_rows.popitem(last=False)
        return rows

    @abstractmethod
    def _visual_rows(self, inputs: Sequence[DecodedInput]) -> list[FloatVector]:
        """The vector of the images of each input, all of which have some; each depends on its own images alone."""


class DualEncoder(PartsEncoder):
    """A family with one tower for images: those of an input, or a volume's slices, are averaged to one vector."""

    def __init__(self, towers: Towers) -> None:
        super().__init__(towers)
        self._towers = towers
        self._passes = ImagePasses(towers.image_features)

    def _visual_rows(self, inputs: Sequence[DecodedInput]) -> list[FloatVector]:
        if not inputs:
            return []
        rows = self._passes.rows([image for decoded in inputs for image in decoded.images])
        ends = np.cumsum([len(decoded.images) for decoded in inputs])
        return [
            rows[end - len(decoded.images) : end].mean(axis=0, dtype=np.float64).astype(np.float32)
            for end, decoded in zip(ends, inputs, strict=True)
        ]


def _images_key(decoded: DecodedInput) -> _ImagesKey:
    return decoded.source.images, decoded.source.is_volume, decoded.source.plane


def _distinct(texts: Iterable[str]) -> list[str]:
    """The different texts without space around them, in order, without the empty one."""
    return [text for text in dict.fromkeys(text.strip() for text in texts) if text]


def _texts(decoded: DecodedInput) -> list[str]:
    """The text and the instruction, without empty ones."""
    parts = (decoded.source.text.strip(), decoded.source.instruction.strip())
    return [part for part in parts if part]

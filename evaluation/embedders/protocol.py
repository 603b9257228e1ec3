"""The interface of every embedder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from PIL import Image

from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix, ModelDescription


@dataclass(frozen=True, slots=True)
class DecodedInput:
    """An input with its files read: `images` are RGB, in reading order; a volume's are its sampled slices."""

    source: EmbeddingInput
    images: tuple[Image.Image, ...] = ()


@runtime_checkable
class Embedder(Protocol):
    """Turns inputs into vectors. Implementations hold a loaded model and no other state."""

    @property
    def description(self) -> ModelDescription:
        """What is loaded and how it encodes."""
        ...

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """Return one float32 row an input, shape (len(batch), dimension), not necessarily normalised.

        The row of an input does not depend on what else is in the batch.

        Raises:
            InputUnsupported: an input has a kind that the model cannot embed.
        """
        ...

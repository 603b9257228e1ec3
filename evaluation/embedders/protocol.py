"""The interface of every embedder."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from evaluation.decoding import DecodedInput
from evaluation.types import FloatMatrix, ModelDescription

__all__ = ["DecodedInput", "Embedder"]


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

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """How many tokens each input has in the matrix whose rows are padded to the longest of a batch.

        Text and visual tokens as the model sees them, after its own cuts. Towers that see images of one size only do
        not pad them, so they count texts alone. 0 where nothing of the input is padded.

        Raises:
            InputUnsupported: an input has a kind that the model cannot embed.
        """
        ...

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Whether the model reads only the beginning of each text, given alone and without instruction."""
        ...

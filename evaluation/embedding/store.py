"""Vectors of a run by content, so that an input that many tasks share is embedded once."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix

Progress = Callable[[int, int], None]
Encode = Callable[[Sequence[EmbeddingInput], Sequence[str], Progress], FloatMatrix]


class EmbeddingStore:
    """Keeps the unit vector of each content key in memory for the life of a run.

    `encode(inputs, keys, on_progress)` gives unit rows for inputs that are not there yet. `known` are vectors that
    were there before.
    """

    def __init__(self, encode: Encode, known: Mapping[str, NDArray[np.float32]] | None = None) -> None:
        self._encode = encode
        self._rows = dict(known or {})

    def __len__(self) -> int:
        return len(self._rows)

    def vectors(self, inputs: Sequence[EmbeddingInput], keys: Sequence[str], on_progress: Progress) -> FloatMatrix:
        """The rows of these inputs in order; only those of unknown keys are computed, each once.

        Raises:
            EvaluationError: whatever `encode` raises; nothing is kept of the inputs that it was given.
        """
        missing = {key: number for number, key in enumerate(keys) if key not in self._rows}
        if missing:
            rows = self._encode([inputs[number] for number in missing.values()], list(missing), on_progress)
            self._rows.update(zip(missing, rows, strict=True))
        return np.stack([self._rows[key] for key in keys])

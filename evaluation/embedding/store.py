"""Vectors of a run by content, so that an input that many tasks share is embedded once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix

FloatVector = NDArray[np.float32]
Progress = Callable[[int, int], None]
Encode = Callable[[Sequence[EmbeddingInput], Sequence[str]], Iterable[tuple[list[int], FloatMatrix]]]


class Shelf(Protocol):
    """Where vectors are kept."""

    @property
    def damaged(self) -> int:
        """How many entries were found damaged, which were then treated as absent."""
        ...

    def get(self, keys: Sequence[str]) -> Iterator[tuple[str, FloatVector]]:
        """The kept vectors among those of the given keys, in any order."""
        ...

    def put(self, keys: Sequence[str], rows: FloatMatrix) -> None:
        """Keep one row a key."""
        ...


class MemoryShelf:
    """Keeps vectors in memory."""

    damaged = 0

    def __init__(self, known: Mapping[str, FloatVector] | None = None) -> None:
        self._rows = dict(known or {})

    def get(self, keys: Sequence[str]) -> Iterator[tuple[str, FloatVector]]:
        """The kept vectors among those of the given keys."""
        return ((key, self._rows[key]) for key in keys if key in self._rows)

    def put(self, keys: Sequence[str], rows: FloatMatrix) -> None:
        """Keep one row a key."""
        self._rows.update(zip(keys, rows, strict=True))


class EmbeddingStore:
    """Gives the unit vector of each content key, computing those that its shelf lacks.

    `encode(inputs, keys)` yields positions and their unit rows, batch by batch; each batch is kept as soon as it is
    there, so that an interruption costs one batch.
    """

    def __init__(self, encode: Encode, shelf: Shelf | None = None) -> None:
        self._encode = encode
        self._shelf = MemoryShelf() if shelf is None else shelf
        self._seen: set[bytes] = set()
        self.inputs = 0
        self.embedded = 0

    @property
    def unique_inputs(self) -> int:
        """How many different inputs were asked for so far."""
        return len(self._seen)

    @property
    def damaged_entries(self) -> int:
        """How many kept vectors were found damaged so far."""
        return self._shelf.damaged

    def vectors(self, inputs: Sequence[EmbeddingInput], keys: Sequence[str], on_progress: Progress) -> FloatMatrix:
        """The rows of these inputs in order; only those of unknown keys are computed, each once.

        Unknown inputs are computed in the order of their keys, so that batches depend on what is unknown and not on
        the task that asks.

        Args:
            inputs: at least one.
            keys: the content key of each.
            on_progress: called with (done, to do) after each batch.

        Raises:
            EvaluationError: whatever `encode` raises; batches before it are kept.
        """
        self.inputs += len(keys)
        self._seen.update(bytes.fromhex(key) for key in keys)
        rows = _Rows(keys)
        for key, row in self._shelf.get(list(rows.positions)):
            rows.fill([key], row[np.newaxis])
        missing = sorted(rows.missing)
        todo = [inputs[rows.positions[key][0]] for key in missing]
        done = 0
        for positions, piece in self._encode(todo, missing) if missing else ():
            piece_keys = [missing[position] for position in positions]
            self._shelf.put(piece_keys, piece)
            rows.fill(piece_keys, piece)
            done += len(piece_keys)
            self.embedded += len(piece_keys)
            on_progress(done, len(missing))
        return rows.matrix()


class _Rows:
    """A matrix that is filled by key; a key may stand at several positions."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.positions: dict[str, list[int]] = {}
        for position, key in enumerate(keys):
            self.positions.setdefault(key, []).append(position)
        self.missing = set(self.positions)
        self._count = len(keys)
        self._matrix: FloatMatrix | None = None

    def fill(self, keys: Sequence[str], rows: FloatMatrix) -> None:
        if self._matrix is None:
            self._matrix = np.empty((self._count, rows.shape[1]), dtype=np.float32)
        for key, row in zip(keys, rows, strict=True):
            self._matrix[self.positions[key]] = row
        self.missing.difference_update(keys)

    def matrix(self) -> FloatMatrix:
        if self._matrix is None or self.missing:
            raise ValueError(f"{len(self.missing) or 'all'} inputs got no vector")
        return self._matrix

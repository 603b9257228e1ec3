"""Vectors of a run by lot and content, so that inputs that many tasks share are embedded once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.embedding.lots import Lot, divide
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix

FloatVector = NDArray[np.float32]
Progress = Callable[[int, int], None]


class Encoder(Protocol):
    """Turns inputs into vectors."""

    @property
    def packing(self) -> str:
        """Names how inputs are packed into batches from here on; it changes only where memory does not suffice."""
        ...

    def pieces(
        self, inputs: Sequence[EmbeddingInput], *, wanted: AbstractSet[int] | None = None
    ) -> Iterator[tuple[list[int], FloatMatrix]]:
        """Pack all inputs and yield (positions, unit rows) of each batch that holds a wanted position (None: all)."""
        ...


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

    def __init__(self) -> None:
        self._rows: dict[str, FloatVector] = {}

    def get(self, keys: Sequence[str]) -> Iterator[tuple[str, FloatVector]]:
        """The kept vectors among those of the given keys."""
        return ((key, self._rows[key]) for key in keys if key in self._rows)

    def put(self, keys: Sequence[str], rows: FloatMatrix) -> None:
        """Keep one row a key."""
        self._rows.update(zip(keys, rows, strict=True))


class VectorStore(Protocol):
    """Where a task's vectors come from."""

    def vectors(
        self,
        inputs: Sequence[EmbeddingInput],
        keys: Sequence[str],
        on_progress: Progress,
        *,
        shared: AbstractSet[int] = frozenset(),
    ) -> FloatMatrix:
        """The unit rows of these inputs in order; see `EmbeddingStore.vectors`."""
        ...


class EmbeddingStore:
    """Gives the unit vector of each input, computing the batches of which its shelf lacks a row.

    Each batch is kept as soon as it is there, so that an interruption costs one batch.
    """

    def __init__(self, encoder: Encoder, shelf: Shelf | None = None) -> None:
        self._encoder = encoder
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

    def vectors(
        self,
        inputs: Sequence[EmbeddingInput],
        keys: Sequence[str],
        on_progress: Progress,
        *,
        shared: AbstractSet[int] = frozenset(),
    ) -> FloatMatrix:
        """The rows of these inputs in order, the same whatever the shelf holds.

        Where memory does not suffice for a batch, rows differ in their last bits from those of the whole batch. The
        rest of its lot is then not kept, and later lots are named by their smaller batches.

        Args:
            inputs: at least one.
            keys: the content key of each.
            on_progress: called with (done, to do) after each batch.
            shared: numbers of inputs that other tasks are likely to have too, all together; see `lots.divide`.

        Raises:
            EvaluationError: whatever the encoder raises; batches before it are kept.
        """
        self.inputs += len(keys)
        self._seen.update(bytes.fromhex(key) for key in keys)
        rows = _Rows(keys)
        lots = [(lot, self._fill_from_shelf(lot, rows)) for lot in divide(inputs, keys, shared)]
        to_do = len(rows.missing)
        for lot, packing in lots:
            if rows.missing.intersection(lot.keys):
                for done in self._compute(lot, packing, rows):
                    on_progress(to_do - done, to_do)
        return rows.matrix()

    def _fill_from_shelf(self, lot: Lot, rows: "_Rows") -> str:
        """Take what is kept of a lot, and say how batches were packed when it was looked up."""
        packing = self._encoder.packing
        keys = dict(zip(lot.names(packing), lot.keys, strict=True))
        for name, row in self._shelf.get(list(keys)):
            rows.fill([keys[name]], row[np.newaxis])
        return packing

    def _compute(self, lot: Lot, packing: str, rows: "_Rows") -> Iterator[int]:
        """Compute the batches of a lot that lack a row; yields how many rows are still missing after each."""
        if packing != self._encoder.packing:
            packing = self._fill_from_shelf(lot, rows)
        names = lot.names(packing)
        wanted = {position for position, key in enumerate(lot.keys) if key in rows.missing}
        for positions, piece in self._encoder.pieces(lot.inputs, wanted=wanted) if wanted else ():
            if self._encoder.packing == packing:
                self._shelf.put([names[position] for position in positions], piece)
            new = [number for number, position in enumerate(positions) if position in wanted]
            rows.fill([lot.keys[positions[number]] for number in new], piece[new])
            self.embedded += len(positions)
            yield len(rows.missing)


class GivenVectors:
    """Vectors made elsewhere, by content key; `refuse` is called with the inputs that have none, and raises."""

    def __init__(
        self,
        known: Mapping[str, FloatVector],
        refuse: Callable[[Sequence[EmbeddingInput], Sequence[str]], None],
    ) -> None:
        self._known = known
        self._refuse = refuse

    def vectors(
        self,
        inputs: Sequence[EmbeddingInput],
        keys: Sequence[str],
        on_progress: Progress,
        *,
        shared: AbstractSet[int] = frozenset(),
    ) -> FloatMatrix:
        """The rows of these inputs in order.

        Raises:
            EvaluationError: what `refuse` raises.
        """
        missing = [number for number, key in enumerate(keys) if key not in self._known]
        if missing:
            self._refuse([inputs[number] for number in missing], [keys[number] for number in missing])
        return np.stack([self._known[key] for key in keys])


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

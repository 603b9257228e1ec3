"""Batches read, decoded and packed in a thread while the one before is trained on."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import torch

from evaluation.decoding import DecodedInput
from evaluation.inputs import EmbeddingInput
from evaluation.training.batching import deal, pack_sequences
from evaluation.training.equivalence import EquivalenceKeys, equivalence_keys
from evaluation.training.gradient_cache import Chunk
from evaluation.training.processes import Processes
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import Position, Positions, TrainingData, batches
from evaluation.training.trainable import TrainableEncoder

_READERS = 4  # threads that decode images


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """One process's share of the batch at `place`: its inputs are the queries, the positives, then the hard negatives.

    `tokens` counts real tokens of all chunks, `padded` those with padding.
    """

    place: Position
    records: int
    negatives: int
    keys: EquivalenceKeys
    chunks: tuple[Chunk, ...]
    tokens: int
    padded: int


@dataclass(frozen=True, slots=True)
class Preparation:
    """Makes the batches of one process."""

    encoder: TrainableEncoder
    data: TrainingData
    settings: TrainingSettings
    processes: Processes

    def batches_ahead(self, start: Position, count: int) -> Iterator[PreparedBatch]:
        """`count` batches from `start` on, one of them ahead of what was handed over.

        Raises:
            InputUnreadable: an image cannot be read; the message names it.
            RecordInvalid, DataMissing: a file was changed since it was indexed.
        """
        waiting: Future[PreparedBatch] | None = None
        with ThreadPoolExecutor(max_workers=1) as pool, ThreadPoolExecutor(max_workers=_READERS) as readers:
            for place, members in islice(batches(self.data, self.settings.order, start), count):
                following = pool.submit(self._batch, place, members, readers)
                if waiting is not None:
                    yield waiting.result()
                waiting = following
            if waiting is not None:
                yield waiting.result()

    def _batch(self, place: Position, members: Positions, readers: ThreadPoolExecutor) -> PreparedBatch:
        """The share of this process in the batch of these records."""
        estimates = self.data.estimates[members]
        records = self.data.read(
            deal(members, estimates, processes=self.processes.count, process=self.processes.number)
        )
        inputs = [
            *(record.query for record in records),
            *(record.positive for record in records),
            *(negative for record in records for negative in record.negatives),
        ]
        decoded = self._read(inputs, readers)
        packing = pack_sequences(
            self.encoder.token_counts(decoded) if decoded else [], budget=self.settings.chunk_tokens
        )
        chunks = tuple(
            Chunk(torch.tensor(chunk), self.encoder.tensors([decoded[position] for position in chunk]), padded)
            for chunk, padded in zip(packing.chunks, packing.padded, strict=True)
        )
        return PreparedBatch(
            place=place,
            records=len(records),
            negatives=len(inputs) - 2 * len(records),
            keys=equivalence_keys(records),
            chunks=chunks,
            tokens=sum(packing.tokens),
            padded=sum(packing.padded),
        )

    def _read(self, inputs: Sequence[EmbeddingInput], readers: ThreadPoolExecutor) -> list[DecodedInput]:
        """All inputs in order, each thread taking an equal share of them."""
        shares = [inputs[number::_READERS] for number in range(_READERS)]
        read = [iter(share) for share in readers.map(self._read_share, shares)]
        return [next(read[number % _READERS]) for number in range(len(inputs))]

    def _read_share(self, inputs: Sequence[EmbeddingInput]) -> list[DecodedInput]:
        return [self.encoder.read(item) for item in inputs]

"""Inputs to unit vectors: files are decoded ahead in threads while the model works through batches under a budget."""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from evaluation.decoding import DecodedInput
from evaluation.embedders.determinism import lacks_deterministic_form, require_determinism
from evaluation.embedders.kinds import require_kinds
from evaluation.embedders.protocol import Embedder
from evaluation.embedding.batching import BatchLimits, InputSize, pack, padded_tokens
from evaluation.embedding.decoding_ahead import decode_named, decoded_windows, planned_images
from evaluation.embedding.memory import embed_in_parts
from evaluation.errors import EmbeddingInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix, ModelCalls

Piece = tuple[list[int], FloatMatrix]


class InputEncoder:
    """Embeds inputs with one model and counts what that took.

    Inputs without images are sorted by length as a whole; the others, whose length is known once they are decoded, in
    windows. Where memory does not suffice, the batch is halved until it fits, and later batches are packed under limits
    that are halved as often.
    """

    def __init__(self, embedder: Embedder, limits: BatchLimits | None = None) -> None:
        self._embedder = embedder
        self._limits = limits or BatchLimits()
        self._deterministic = True
        self._calls = self._halvings = self._tokens = self._padded = self._texts_cut = 0

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._embedder.description.dimension

    @property
    def packing(self) -> str:
        """Names how batches are packed; it changes where memory does not suffice."""
        limits = self._limits
        return f"{limits.inputs} inputs, {limits.images} images, {limits.tokens} tokens"

    def model_calls(self) -> ModelCalls:
        """What was asked of the model so far."""
        return ModelCalls(
            batches=self._calls,
            padding_waste=1 - self._tokens / self._padded if self._padded else 0.0,
            out_of_memory=self._halvings,
            texts_cut=self._texts_cut,
            deterministic=self._deterministic,
        )

    def pieces(self, inputs: Sequence[EmbeddingInput], *, wanted: AbstractSet[int] | None = None) -> Iterator[Piece]:
        """Yield (positions, float32 rows of unit length) batch by batch, each input at most once.

        The largest inputs go first, so that a lack of memory shows at once. The same inputs in the same order give the
        same batches; those without a wanted position are left out (None: none is).

        Raises:
            InputUnsupported: the model cannot embed this kind of input (before anything is decoded).
            InputUnreadable, InputTooLarge: naming the file.
            EmbeddingInvalid: naming the input whose vector is not finite or zero, or the wrong shape.
            OutOfMemory: one input alone does not fit into memory.
        """
        require_kinds(inputs, self._embedder.description)
        pictured = sorted(
            (position for position, source in enumerate(inputs) if source.images),
            key=lambda position: planned_images(inputs[position]),
            reverse=True,
        )
        for window in decoded_windows(inputs, pictured):
            yield from self._batches(window, wanted)
        texts = [position for position, source in enumerate(inputs) if not source.images]
        yield from self._batches([(position, decode_named(inputs[position])) for position in texts], wanted)

    def decoded_pieces(self, inputs: Sequence[DecodedInput]) -> Iterator[Piece]:
        """As `pieces`, of inputs whose files are read already.

        Raises:
            InputUnsupported, EmbeddingInvalid, OutOfMemory: as by `pieces`.
        """
        require_kinds((decoded.source for decoded in inputs), self._embedder.description)
        for pictured in (True, False):
            window = [(position, one) for position, one in enumerate(inputs) if bool(one.source.images) is pictured]
            yield from self._batches(window, None)

    def _batches(self, window: Sequence[tuple[int, DecodedInput]], wanted: AbstractSet[int] | None) -> Iterator[Piece]:
        """Pack what is decoded, and pack the rest anew where a lack of memory lowers the limits."""
        waiting = list(window)
        if wanted is not None and wanted.isdisjoint(position for position, _ in waiting):
            return
        sizes = self._sizes([decoded for _, decoded in waiting])
        while waiting:
            limits = self._limits
            done: set[int] = set()
            for batch in pack(sizes, limits):
                done.update(batch)
                positions = [waiting[number][0] for number in batch]
                if wanted is not None and wanted.isdisjoint(positions):
                    continue
                self._tokens += sum(sizes[number].tokens for number in batch)
                self._padded += padded_tokens([sizes[number] for number in batch])
                yield positions, self._embed([waiting[number][1] for number in batch])
                if self._limits is not limits:
                    break
            left = [number for number in range(len(waiting)) if number not in done]
            waiting, sizes = [waiting[number] for number in left], [sizes[number] for number in left]

    def _sizes(self, decoded: Sequence[DecodedInput]) -> list[InputSize]:
        counts = self._embedder.token_counts(decoded) if decoded else []
        return [InputSize(count, len(entry.images)) for count, entry in zip(counts, decoded, strict=True)]

    def _embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        texts = [decoded.source.text for decoded in batch if decoded.source.text.strip()]
        self._texts_cut += sum(self._embedder.cuts(texts)) if texts else 0
        depths = [0]
        rows = embed_in_parts(self._call, batch, on_halving=depths.append)
        self._halvings += len(depths) - 1
        for _ in range(max(depths)):
            self._limits = self._limits.halved()
        return normalise_rows(rows, [decoded.source for decoded in batch])

    def _call(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        self._calls += 1
        return _checked(self._rows(batch), [decoded.source for decoded in batch], self.dimension)

    def _rows(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """What the model gives; by operations without a deterministic form where it needs them, which is noted."""
        try:
            return self._embedder.embed(batch)
        except RuntimeError as error:
            if not lacks_deterministic_form(error):
                raise
        self._deterministic = False
        require_determinism(strictly=False)
        return self._embedder.embed(batch)


def embed_inputs(embedder: Embedder, inputs: Sequence[EmbeddingInput], *, batch_size: int) -> FloatMatrix:
    """Embed each input once; float32 rows of unit length in the order of `inputs`, shape (len(inputs), dimension).

    Args:
        embedder: the model.
        inputs: what to embed, without duplicates.
        batch_size: the most inputs a batch, at least 1.

    Raises:
        EvaluationError: see `InputEncoder.pieces`.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be at least 1")
    rows = np.empty((len(inputs), embedder.description.dimension), dtype=np.float32)
    for positions, piece in InputEncoder(embedder, BatchLimits(inputs=batch_size)).pieces(inputs):
        rows[positions] = piece
    return rows


def normalise_rows(matrix: FloatMatrix, sources: Sequence[EmbeddingInput]) -> FloatMatrix:
    """Rows of unit Euclidean length in float32; `sources[i]` names row i in errors.

    Lengths are taken in float64 after scaling by the largest entry, so that very large or small rows survive.

    Raises:
        EmbeddingInvalid: a row holds a number that is not finite, or only zeros.
    """
    wide = matrix.astype(np.float64)
    for source, row in zip(sources, wide, strict=True):
        if not np.isfinite(row).all():
            raise EmbeddingInvalid(f"{source.label}: its embedding has numbers that are not finite. Check the model.")
        if not row.any():
            raise EmbeddingInvalid(f"{source.label}: its embedding is all zeros, so it has no direction.")
    scaled = wide / np.abs(wide).max(axis=1, keepdims=True, initial=np.finfo(np.float64).tiny)
    unit: FloatMatrix = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    return unit


def _checked(matrix: FloatMatrix, sources: Sequence[EmbeddingInput], dimension: int) -> FloatMatrix:
    expected = (len(sources), dimension)
    if matrix.shape != expected:
        raise EmbeddingInvalid(f"{sources[0].label}: the embeddings have the shape {matrix.shape}, not {expected}.")
    return matrix

"""Inputs to unit vectors: files are decoded ahead in threads while the model works."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from evaluation.decoding import DecodedInput, decode
from evaluation.embedders.kinds import require_kinds
from evaluation.embedders.protocol import Embedder
from evaluation.errors import EmbeddingInvalid, EvaluationError
from evaluation.inputs import MAX_VOLUME_SLICES, EmbeddingInput
from evaluation.types import FloatMatrix

Progress = Callable[[int, int], None]

MAX_BATCH_PIXELS = 64_000_000
_MAX_DECODING_THREADS = 4


def embed_inputs(
    embedder: Embedder, inputs: Sequence[EmbeddingInput], *, batch_size: int, on_progress: Progress | None = None
) -> FloatMatrix:
    """Embed each input once; float32 rows of unit length in the order of `inputs`, shape (len(inputs), dimension).

    The longest inputs go first, so that a lack of memory shows at once and little is padded. A batch ends at
    `batch_size` inputs or `MAX_BATCH_PIXELS` pixels; as many images as two batches or one volume are decoded ahead.

    Args:
        embedder: the model.
        inputs: what to embed, without duplicates.
        batch_size: inputs a batch, at least 1.
        on_progress: called with (done, total) after each batch.

    Raises:
        InputUnsupported: the model cannot embed this kind of input (before anything is decoded).
        InputUnreadable, InputTooLarge: naming the file.
        EmbeddingInvalid: naming the input whose vector is not finite or zero, or the wrong shape.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size is {batch_size}; it must be at least 1")
    require_kinds(inputs, embedder.description)
    dimension = embedder.description.dimension
    rows = np.empty((len(inputs), dimension), dtype=np.float32)
    order = sorted(range(len(inputs)), key=lambda position: _length(inputs[position]), reverse=True)
    done = 0
    for positions, batch in _batches(inputs, order, batch_size):
        sources = [decoded.source for decoded in batch]
        rows[positions] = normalise_rows(_checked(embedder.embed(batch), sources, dimension), sources)
        done += len(batch)
        if on_progress is not None:
            on_progress(done, len(inputs))
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


def _length(source: EmbeddingInput) -> tuple[int, int]:
    return _planned_images(source), len(source.text) + len(source.instruction)


def _planned_images(source: EmbeddingInput) -> int:
    """How many images decoding may give; a volume in one file or folder counts as full."""
    if source.is_volume:
        return MAX_VOLUME_SLICES if len(source.images) == 1 else min(len(source.images), MAX_VOLUME_SLICES)
    return len(source.images)


def _batches(
    inputs: Sequence[EmbeddingInput], order: Sequence[int], batch_size: int
) -> Iterator[tuple[list[int], list[DecodedInput]]]:
    positions: list[int] = []
    batch: list[DecodedInput] = []
    pixels = 0
    for position, decoded in _decoded_ahead(inputs, order, batch_size):
        size = sum(image.width * image.height for image in decoded.images)
        if batch and (len(batch) == batch_size or pixels + size > MAX_BATCH_PIXELS):
            yield positions, batch
            positions, batch, pixels = [], [], 0
        positions.append(position)
        batch.append(decoded)
        pixels += size
    if batch:
        yield positions, batch


def _decoded_ahead(
    inputs: Sequence[EmbeddingInput], order: Sequence[int], batch_size: int
) -> Iterator[tuple[int, DecodedInput]]:
    """Inputs in `order` with their images, decoded by threads that stay a bounded way ahead."""
    limit = max(2 * batch_size, MAX_VOLUME_SLICES)
    waiting: deque[tuple[int, int, Future[DecodedInput]]] = deque()
    ahead = 0
    with ThreadPoolExecutor(max_workers=min(_MAX_DECODING_THREADS, os.cpu_count() or 1)) as pool:
        try:
            for position in order:
                cost = max(1, _planned_images(inputs[position]))
                while waiting and ahead + cost > limit:
                    first, first_cost, future = waiting.popleft()
                    ahead -= first_cost
                    yield first, future.result()
                waiting.append((position, cost, pool.submit(_decode_named, inputs[position])))
                ahead += cost
            for first, _, future in waiting:
                yield first, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _decode_named(source: EmbeddingInput) -> DecodedInput:
    try:
        return decode(source)
    except EvaluationError as error:
        error.add_note(f"while reading {source.label}")
        raise

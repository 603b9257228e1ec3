"""Images of many inputs, decoded by threads while the model works on earlier ones."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from evaluation.decoding import DecodedInput, decode
from evaluation.errors import EvaluationError
from evaluation.inputs import MAX_VOLUME_SLICES, EmbeddingInput

MAX_WINDOW_PIXELS = 64_000_000
MAX_WINDOW_IMAGES = 64

_MAX_IMAGES_AHEAD = 32
_MAX_THREADS = 4


def planned_images(source: EmbeddingInput) -> int:
    """How many images decoding may give; a volume in one file or folder counts as full."""
    if source.is_volume:
        return MAX_VOLUME_SLICES if len(source.images) == 1 else min(len(source.images), MAX_VOLUME_SLICES)
    return len(source.images)


def decode_named(source: EmbeddingInput) -> DecodedInput:
    """Decode one input; an error gets a note that says which."""
    try:
        return decode(source)
    except EvaluationError as error:
        error.add_note(f"while reading {source.label}")
        raise


def decoded_windows(inputs: Sequence[EmbeddingInput], order: Sequence[int]) -> Iterator[list[tuple[int, DecodedInput]]]:
    """Inputs in `order` with their images, as many at a time as `MAX_WINDOW_IMAGES` and `MAX_WINDOW_PIXELS` let.

    An input with more images or pixels makes a window of its own.

    Raises:
        InputUnreadable, InputTooLarge: naming the file.
    """
    window: list[tuple[int, DecodedInput]] = []
    images = pixels = 0
    for position, decoded in _decoded_ahead(inputs, order):
        size = sum(image.width * image.height for image in decoded.images)
        full = images + len(decoded.images) > MAX_WINDOW_IMAGES or pixels + size > MAX_WINDOW_PIXELS
        if window and full:
            yield window
            window, images, pixels = [], 0, 0
        window.append((position, decoded))
        images += len(decoded.images)
        pixels += size
    if window:
        yield window


def _decoded_ahead(inputs: Sequence[EmbeddingInput], order: Sequence[int]) -> Iterator[tuple[int, DecodedInput]]:
    """Decode in threads that stay a bounded way ahead of what was handed over."""
    waiting: deque[tuple[int, int, Future[DecodedInput]]] = deque()
    ahead = 0
    with ThreadPoolExecutor(max_workers=min(_MAX_THREADS, os.cpu_count() or 1)) as pool:
        try:
            for position in order:
                cost = max(1, planned_images(inputs[position]))
                while waiting and ahead + cost > _MAX_IMAGES_AHEAD:
                    first, first_cost, future = waiting.popleft()
                    ahead -= first_cost
                    yield first, future.result()
                waiting.append((position, cost, pool.submit(decode_named, inputs[position])))
                ahead += cost
            for first, _, future in waiting:
                yield first, future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

"""Inputs to unit vectors: order, batches, progress and every way to fail."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image

from evaluation.decoding import DecodedInput, decode
from evaluation.embedding import decoding_ahead
from evaluation.embedding.batching import BatchLimits
from evaluation.embedding.encode import InputEncoder, embed_inputs, normalise_rows
from evaluation.errors import EmbeddingInvalid, InputUnreadable, InputUnsupported, OutOfMemory
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix, ModelDescription


class Written:
    """An embedder whose vectors a test writes down; it remembers the batches that it was given."""

    def __init__(self, vector: Callable[[DecodedInput], Sequence[float]], *, kinds: tuple[str, ...] = ()) -> None:
        self._vector = vector
        self.batches: list[list[str]] = []
        self.description = ModelDescription(
            family="chance",
            architecture="Written",
            dimension=2,
            parameters=0,
            kinds=kinds or ("text", "image", "images", "volume"),
        )

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        self.batches.append([decoded.source.text for decoded in batch])
        return np.array([self._vector(decoded) for decoded in batch], dtype=np.float32)

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        return [len(decoded.source.text) for decoded in batch]

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        return [len(text) > 100 for text in texts]


def by_length(decoded: DecodedInput) -> tuple[float, float]:
    return 1.0, float(len(decoded.source.text) + 10 * len(decoded.images))


def texts(*words: str) -> list[EmbeddingInput]:
    return [EmbeddingInput(text=word) for word in words]


def test_rows_come_back_in_the_order_of_the_inputs_with_unit_length(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    sources = [*texts("a", "aaaa", "aa"), EmbeddingInput(images=(tmp_path / "a.png",)), *texts("aaa")]
    rows = embed_inputs(Written(by_length), sources, batch_size=2)
    expected = np.array([[1, length] for length in (1, 4, 2, 10, 3)])
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-7)


def test_the_longest_go_first_and_each_input_once() -> None:
    embedder = Written(by_length)
    embed_inputs(embedder, texts("a", "aaaaa", "aaa", "aaaa", "aa"), batch_size=2)
    assert embedder.batches == [["aaaaa", "aaaa"], ["aaa", "aa"], ["a"]]


def test_nothing_to_embed_gives_no_rows() -> None:
    assert embed_inputs(Written(by_length), [], batch_size=4).shape == (0, 2)


def test_a_batch_size_below_one_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="batch_size"):
        embed_inputs(Written(by_length), texts("a"), batch_size=0)


def test_many_pixels_close_a_window_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_ahead, "MAX_WINDOW_PIXELS", 250)
    for name in "abc":
        Image.new("RGB", (10, 10)).save(tmp_path / f"{name}.png")
    sources = [EmbeddingInput(text=name, images=(tmp_path / f"{name}.png",)) for name in "abc"]
    embedder = Written(by_length)
    embed_inputs(embedder, sources, batch_size=8)
    assert embedder.batches == [["a", "b"], ["c"]]


def test_inputs_with_images_are_sorted_by_length_within_a_window(tmp_path: Path) -> None:
    Image.new("RGB", (10, 10)).save(tmp_path / "x.png")
    sources = [EmbeddingInput(text=text, images=(tmp_path / "x.png",)) for text in ("a", "aaa", "aa", "aaaa")]
    embedder = Written(by_length)
    embed_inputs(embedder, sources, batch_size=2)
    assert embedder.batches == [["aaaa", "aaa"], ["aa", "a"]]


def test_decoding_stays_a_bounded_way_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding_ahead, "MAX_WINDOW_IMAGES", 16)
    Image.new("RGB", (2, 2)).save(tmp_path / "x.png")
    started: list[str] = []
    lock = threading.Lock()

    def decode_and_count(source: EmbeddingInput) -> DecodedInput:
        with lock:
            started.append(source.text)
        return decode(source)

    monkeypatch.setattr(decoding_ahead, "decode", decode_and_count)
    ahead: list[int] = []

    class Watching(Written):
        def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
            ahead.append(len(started) - sum(map(len, self.batches)))
            return super().embed(batch)

    sources = [EmbeddingInput(text=f"{n:03}", images=(tmp_path / "x.png",)) for n in range(300)]
    embed_inputs(Watching(by_length), sources, batch_size=4)
    assert len(started) == 300
    # a window that is being embedded, 64 images that wait, and one that is handed over
    assert max(ahead) <= 16 + 64 + 1


@pytest.mark.parametrize("kind", ["MemoryError", "RuntimeError"])
def test_a_lack_of_memory_halves_batches_and_is_reported(kind: str) -> None:
    class Small(Written):
        def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
            if len(batch) > 3:
                self.batches.append(["failed"])
                raise MemoryError if kind == "MemoryError" else RuntimeError("CUDA out of memory. Tried to allocate")
            return super().embed(batch)

    embedder = Small(by_length)
    encoder = InputEncoder(embedder, BatchLimits(inputs=8))
    sources = texts(*("a" * n for n in range(1, 17)))
    rows = np.empty((16, 2), dtype=np.float32)
    for positions, piece in encoder.pieces(sources):
        rows[positions] = piece
    expected = np.array([[1, n] for n in range(1, 17)])
    assert np.allclose(rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-7)
    # 8 and its two halves of 4 fail; what is left is packed under limits that were halved twice
    assert embedder.batches.count(["failed"]) == 3
    assert [len(batch) for batch in embedder.batches if batch != ["failed"]] == [2] * 8
    assert encoder.model_calls().out_of_memory == 3
    assert encoder.model_calls().batches == len(embedder.batches)


def test_one_input_that_is_too_large_is_named() -> None:
    def fail(decoded: DecodedInput) -> tuple[float, float]:
        if decoded.source.text == "huge":
            raise MemoryError("4 GiB")
        return 1, 1

    with pytest.raises(OutOfMemory, match=r"'huge'.*4 GiB.*device"):
        embed_inputs(Written(fail), texts("a", "huge", "b"), batch_size=8)


def test_other_runtime_errors_are_not_taken_for_a_lack_of_memory() -> None:
    def fail(decoded: DecodedInput) -> tuple[float, float]:
        raise RuntimeError("shapes do not match")

    embedder = Written(fail)
    with pytest.raises(RuntimeError, match="shapes"):
        embed_inputs(embedder, texts("a", "b"), batch_size=2)
    assert len(embedder.batches) == 1


def test_the_waste_that_is_reported_is_that_of_the_batches() -> None:
    encoder = InputEncoder(Written(by_length), BatchLimits(inputs=2))
    assert len(list(encoder.pieces(texts("aaaa", "aa", "a")))) == 2
    # rows of 4 and 2 padded to 4, and one row of 1: 7 tokens of 9
    assert encoder.model_calls().padding_waste == pytest.approx(2 / 9)


@pytest.mark.parametrize("bad", [(np.nan, 1), (np.inf, 1), (0, 0)])
def test_vectors_without_direction_name_their_input(bad: tuple[float, float]) -> None:
    embedder = Written(lambda decoded: bad if decoded.source.text == "the bad one" else (1, 2))
    with pytest.raises(EmbeddingInvalid, match="the bad one"):
        embed_inputs(embedder, texts("good", "the bad one", "fine"), batch_size=3)


def test_a_wrong_shape_is_an_error() -> None:
    with pytest.raises(EmbeddingInvalid, match="shape"):
        embed_inputs(Written(lambda _: (1, 2, 3)), texts("a"), batch_size=1)


def test_kinds_are_checked_before_any_file_is_opened() -> None:
    sources = [*texts("a"), EmbeddingInput(images=(Path("missing.nii"),), is_volume=True)]
    with pytest.raises(InputUnsupported, match=r"missing\.nii.*volume"):
        embed_inputs(Written(by_length, kinds=("text", "image")), sources, batch_size=1)


def test_an_unreadable_file_is_named_and_stops_the_work(tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no image")
    sources = [*texts(*"abcdefgh"), EmbeddingInput(text="with it", images=(tmp_path / "broken.png",))]
    with pytest.raises(InputUnreadable, match=r"broken\.png") as caught:
        embed_inputs(Written(by_length), sources, batch_size=2)
    assert any("with it" in note for note in caught.value.__notes__)


@settings(max_examples=100)
@given(
    matrix=arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.integers(1, 6)),
        elements=st.floats(-(2.0**120), 2.0**120, width=32),
    ),
    exponent=st.integers(-20, 20),
)
def test_normalised_rows_have_unit_length_and_the_same_direction(matrix: FloatMatrix, exponent: int) -> None:
    sources = texts(*map(str, range(len(matrix))))
    if not matrix.any(axis=1).all():
        with pytest.raises(EmbeddingInvalid):
            normalise_rows(matrix, sources)
        return
    unit = normalise_rows(matrix, sources)
    assert np.abs(np.linalg.norm(unit.astype(np.float64), axis=1) - 1).max() < 1e-6
    scaled = matrix.astype(np.float64) * 2.0**exponent
    assert np.abs(normalise_rows(scaled, sources) - unit).max() < 1e-6


def test_texts_of_which_only_the_beginning_is_read_are_counted(tmp_path: Path) -> None:
    Image.new("RGB", (2, 2)).save(tmp_path / "a.png")
    long = "a" * 101
    encoder = InputEncoder(Written(by_length))
    for sources in (
        [*texts("a" * 100, long, f"{long}b"), EmbeddingInput(text=long, images=(tmp_path / "a.png",))],
        [EmbeddingInput(images=(tmp_path / "a.png",))],
        texts(f"{long}c"),
    ):
        list(encoder.pieces(sources))
    assert encoder.model_calls().texts_cut == 4

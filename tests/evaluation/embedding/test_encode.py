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

from evaluation.decoding import DecodedInput
from evaluation.embedding import encode
from evaluation.embedding.encode import embed_inputs, normalise_rows
from evaluation.errors import EmbeddingInvalid, InputUnreadable, InputUnsupported
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


def test_progress_reaches_the_total() -> None:
    seen: list[tuple[int, int]] = []
    embed_inputs(Written(by_length), texts("a", "b", "c"), batch_size=2, on_progress=lambda *step: seen.append(step))
    assert seen == [(2, 3), (3, 3)]


def test_nothing_to_embed_gives_no_rows() -> None:
    assert embed_inputs(Written(by_length), [], batch_size=4).shape == (0, 2)


def test_a_batch_size_below_one_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="batch_size"):
        embed_inputs(Written(by_length), texts("a"), batch_size=0)


def test_many_pixels_close_a_batch_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "MAX_BATCH_PIXELS", 250)
    for name in "abc":
        Image.new("RGB", (10, 10)).save(tmp_path / f"{name}.png")
    sources = [EmbeddingInput(text=name, images=(tmp_path / f"{name}.png",)) for name in "abc"]
    embedder = Written(by_length)
    embed_inputs(embedder, sources, batch_size=8)
    assert embedder.batches == [["a", "b"], ["c"]]


def test_decoding_stays_a_bounded_way_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    lock = threading.Lock()

    def decode_and_count(source: EmbeddingInput) -> DecodedInput:
        with lock:
            started.append(source.text)
        return DecodedInput(source)

    monkeypatch.setattr(encode, "decode", decode_and_count)
    ahead: list[int] = []

    class Watching(Written):
        def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
            ahead.append(len(started) - sum(map(len, self.batches)))
            return super().embed(batch)

    embed_inputs(Watching(by_length), texts(*(f"{n:03}" for n in range(500))), batch_size=4)
    assert len(started) == 500
    # 64 images or two batches may wait, and one more is handed over
    assert max(ahead) <= 64 + 4 + 1


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


@settings(max_examples=100, deadline=None)
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

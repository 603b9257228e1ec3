"""The store of a run: each input once, in an order of its own, batch by batch."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from evaluation.embedding.store import EmbeddingStore, MemoryShelf
from evaluation.errors import InputUnreadable
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix


def key(number: int) -> str:
    return f"{number:064x}"


class Numbers:
    """Embeds the text of a number as (number, 1), two inputs a batch."""

    def __init__(self, *, fails_at: str = "") -> None:
        self.asked: list[list[str]] = []
        self.fails_at = fails_at

    def __call__(
        self, inputs: Sequence[EmbeddingInput], keys: Sequence[str]
    ) -> Iterator[tuple[list[int], FloatMatrix]]:
        self.asked.append([source.text for source in inputs])
        for start in range(0, len(inputs), 2):
            part = [source.text for source in inputs[start : start + 2]]
            if self.fails_at in part:
                raise InputUnreadable("the input is gone")
            yield [start + number for number in range(len(part))], np.array([[float(text), 1] for text in part], "f4")


def ask(store: EmbeddingStore, numbers: Sequence[int], seen: list[tuple[int, int]] | None = None) -> FloatMatrix:
    inputs = [EmbeddingInput(text=str(number)) for number in numbers]
    steps = [] if seen is None else seen
    return store.vectors(inputs, [key(n) for n in numbers], lambda *step: steps.append(step))


def test_rows_stand_in_the_order_that_was_asked_for_and_may_repeat() -> None:
    rows = ask(EmbeddingStore(Numbers()), [5, 3, 9, 3])
    assert rows.tolist() == [[5, 1], [3, 1], [9, 1], [3, 1]]
    assert rows.dtype == np.float32


def test_unknown_inputs_are_computed_in_the_order_of_their_keys() -> None:
    forwards, backwards = Numbers(), Numbers()
    ask(EmbeddingStore(forwards), [1, 2, 3, 4])
    ask(EmbeddingStore(backwards), [4, 3, 2, 1])
    assert forwards.asked == backwards.asked == [["1", "2", "3", "4"]]


def test_known_inputs_are_not_computed_again() -> None:
    encode = Numbers()
    store = EmbeddingStore(encode, MemoryShelf({key(7): np.array([70, 1], "f4")}))
    assert ask(store, [7, 8]).tolist() == [[70, 1], [8, 1]]
    assert ask(store, [8, 7]).tolist() == [[8, 1], [70, 1]]
    assert encode.asked == [["8"]]
    assert (store.inputs, store.unique_inputs, store.embedded) == (4, 2, 1)


def test_progress_reaches_what_was_to_do() -> None:
    seen: list[tuple[int, int]] = []
    store = EmbeddingStore(Numbers())
    ask(store, [1])
    ask(store, [1, 2, 3, 4], seen)
    assert seen == [(2, 3), (3, 3)]


def test_batches_before_a_failure_are_kept() -> None:
    encode = Numbers(fails_at="5")
    store = EmbeddingStore(encode)
    with pytest.raises(InputUnreadable):
        ask(store, [1, 2, 3, 4, 5])
    ask(store, [4, 3, 2, 1])
    assert len(encode.asked) == 1


def test_a_model_that_leaves_inputs_out_is_a_defect() -> None:
    store = EmbeddingStore(lambda _inputs, _keys: iter([([0], np.ones((1, 2), "f4"))]))
    with pytest.raises(ValueError, match="1 inputs got no vector"):
        ask(store, [1, 2])

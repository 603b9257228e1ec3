"""The store of a run: every vector is that of its input in its lot, whatever was asked for before."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.embedding.lots import divide
from evaluation.embedding.store import EmbeddingStore, GivenVectors, MemoryShelf
from evaluation.errors import DataMissing, InputUnreadable
from evaluation.inputs import EmbeddingInput
from evaluation.types import FloatMatrix


def key(number: int) -> str:
    return f"{number:064x}"


class Numbers:
    """Embeds the text of a number, two inputs a batch, as (number, sum of the batch): rows tell their batch."""

    def __init__(self, *, fails_at: str = "", memory_ends_at: str = "") -> None:
        self.batches: list[list[str]] = []
        self.fails_at = fails_at
        self.memory_ends_at = memory_ends_at
        self.rows = 2

    @property
    def packing(self) -> str:
        return f"{self.rows} a batch"

    def pieces(
        self, inputs: Sequence[EmbeddingInput], *, wanted: frozenset[int] | None = None
    ) -> Iterator[tuple[list[int], FloatMatrix]]:
        start = 0
        while start < len(inputs):
            positions = list(range(start, min(start + self.rows, len(inputs))))
            start += self.rows
            part = [inputs[position].text for position in positions]
            if wanted is not None and not set(positions) & set(wanted):
                continue
            if self.fails_at in part:
                raise InputUnreadable("the input is gone")
            if self.memory_ends_at in part:
                self.memory_ends_at, self.rows = "", 1
            self.batches.append(part)
            yield positions, np.array([[float(text), sum(map(float, part))] for text in part], "f4")


def ask(
    store: EmbeddingStore,
    numbers: Sequence[int],
    seen: list[tuple[int, int]] | None = None,
    *,
    shared: Sequence[int] = (),
) -> FloatMatrix:
    inputs = [EmbeddingInput(text=str(number)) for number in numbers]
    steps = [] if seen is None else seen
    positions = frozenset(place for place, number in enumerate(numbers) if number in shared)
    return store.vectors(inputs, [key(n) for n in numbers], lambda *step: steps.append(step), shared=positions)


def test_rows_stand_in_the_order_that_was_asked_for_and_may_repeat() -> None:
    rows = ask(EmbeddingStore(Numbers()), [5, 3, 9, 3])
    assert rows.tolist() == [[5, 8], [3, 8], [9, 9], [3, 8]]
    assert rows.dtype == np.float32


def test_batches_follow_from_the_inputs_and_not_from_their_order() -> None:
    forwards, backwards = Numbers(), Numbers()
    ask(EmbeddingStore(forwards), [1, 2, 3, 4])
    ask(EmbeddingStore(backwards), [4, 3, 2, 1])
    assert forwards.batches == backwards.batches == [["1", "2"], ["3", "4"]]


def test_what_was_asked_before_is_not_computed_again() -> None:
    encoder = Numbers()
    store = EmbeddingStore(encoder)
    assert ask(store, [7, 8]).tolist() == [[7, 15], [8, 15]]
    assert ask(store, [8, 7]).tolist() == [[8, 15], [7, 15]]
    assert encoder.batches == [["7", "8"]]
    assert (store.inputs, store.unique_inputs, store.embedded) == (4, 2, 2)


@given(
    tasks=st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=8, unique=True), min_size=1, max_size=5),
    order=st.randoms(use_true_random=False),
)
def test_a_row_is_the_same_whatever_was_embedded_before(tasks: list[list[int]], order: object) -> None:
    undisturbed = {tuple(task): ask(EmbeddingStore(Numbers()), task) for task in tasks}
    store = EmbeddingStore(Numbers())
    order.shuffle(tasks)
    for task in tasks:
        assert np.array_equal(ask(store, task), undisturbed[tuple(task)])


@given(forgotten=st.sets(st.integers(0, 8)))
def test_a_batch_of_which_a_row_is_lost_is_computed_whole(forgotten: set[int]) -> None:
    shelf = MemoryShelf()
    first = Numbers()
    rows = ask(EmbeddingStore(first, shelf), range(9))
    for place, name in enumerate(list(shelf._rows)):
        if place in forgotten:
            del shelf._rows[name]
    again = Numbers()
    assert np.array_equal(ask(EmbeddingStore(again, shelf), range(9)), rows)
    assert again.batches == [batch for batch in first.batches if {int(text) for text in batch} & forgotten]


def test_inputs_that_tasks_share_are_embedded_once() -> None:
    encoder = Numbers()
    store = EmbeddingStore(encoder)
    for own in (5, 6):
        ask(store, [1, 2, 3, own], shared=[1, 2, 3])
    assert sorted(encoder.batches) == [["1", "2"], ["3"], ["5"], ["6"]]


def test_progress_reaches_what_was_to_do() -> None:
    seen: list[tuple[int, int]] = []
    store = EmbeddingStore(Numbers())
    ask(store, [1, 2], shared=[1, 2])
    ask(store, [1, 2, 3, 4, 5], seen, shared=[1, 2])
    assert seen == [(2, 3), (3, 3)]


def test_batches_before_a_failure_are_kept() -> None:
    encoder = Numbers(fails_at="5")
    store = EmbeddingStore(encoder)
    with pytest.raises(InputUnreadable):
        ask(store, [1, 2, 3, 4, 5])
    encoder.fails_at = ""
    ask(store, [1, 2, 3, 4, 5])
    assert encoder.batches == [["1", "2"], ["3", "4"], ["5"]]


def test_rows_of_smaller_batches_never_pass_for_those_of_whole_ones() -> None:
    shelf = MemoryShelf()
    short = EmbeddingStore(Numbers(memory_ends_at="3"), shelf)
    assert ask(short, [1, 2, 3, 4, 5, 6]).tolist() == [[1, 3], [2, 3], [3, 7], [4, 7], [5, 5], [6, 6]]
    assert ask(short, [7, 8]).tolist() == [[7, 7], [8, 8]], "later lots go in smaller batches"
    ample = Numbers()
    assert ask(EmbeddingStore(ample, shelf), [1, 2, 3, 4, 5, 6])[:, 1].tolist() == [3, 3, 7, 7, 11, 11]
    assert ask(EmbeddingStore(ample, shelf), [7, 8]).tolist() == [[7, 15], [8, 15]]
    assert ample.batches == [["3", "4"], ["5", "6"], ["7", "8"]]


def test_a_model_that_leaves_inputs_out_is_a_defect() -> None:
    class Half(Numbers):
        def pieces(self, inputs: Sequence[EmbeddingInput], *, wanted: frozenset[int] | None = None):
            yield from itertools.islice(super().pieces(inputs, wanted=wanted), 1)

    with pytest.raises(ValueError, match="1 inputs got no vector"):
        ask(EmbeddingStore(Half()), [1, 2, 3])


def test_images_and_texts_are_divided_and_large_lots_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.embedding.lots.MAX_IMAGES", 3)
    monkeypatch.setattr("evaluation.embedding.lots.MAX_TEXTS", 2)
    one, two = (Path("a.png"),), (Path("a.png"), Path("b.png"))
    inputs = [EmbeddingInput(text=str(n)) for n in range(5)]
    inputs += [EmbeddingInput(images=one), EmbeddingInput(images=two), EmbeddingInput(images=one)]
    lots = divide(inputs, [key(n) for n in range(8)], frozenset({0}))
    assert [[int(name, 16) for name in lot.keys] for lot in lots] == [[6, 5], [7], [0], [1, 2], [3, 4]]


def test_vectors_made_elsewhere_are_taken_as_they_are_or_refused() -> None:
    def refuse(inputs: Sequence[EmbeddingInput], keys: Sequence[str]) -> None:
        raise DataMissing(f"{len(keys)} lack, the first is {inputs[0].text}")

    store = GivenVectors({key(1): np.array([1, 2], "f4"), key(2): np.array([3, 4], "f4")}, refuse)
    assert ask(store, [2, 1, 2]).tolist() == [[3, 4], [1, 2], [3, 4]]
    with pytest.raises(DataMissing, match="1 lack, the first is 3"):
        ask(store, [1, 3])

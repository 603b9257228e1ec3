"""Packing under a budget: nothing lost, no limit broken, little padding."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.embedding.batching import BatchLimits, InputSize, pack, padded_tokens

SIZES = st.lists(st.builds(InputSize, tokens=st.integers(0, 300), images=st.integers(0, 5)), max_size=60)
LIMITS = st.builds(BatchLimits, inputs=st.integers(1, 20), images=st.integers(1, 20), tokens=st.integers(1, 2000))


@given(sizes=SIZES, limits=LIMITS)
def test_every_input_is_in_one_batch_and_only_single_inputs_break_a_limit(
    sizes: list[InputSize], limits: BatchLimits
) -> None:
    batches = pack(sizes, limits)
    assert sorted(position for batch in batches for position in batch) == list(range(len(sizes)))
    for batch in batches:
        members = [sizes[position] for position in batch]
        rows = [size.tokens for size in members if size.tokens]
        assert len(members) <= limits.inputs
        if len(members) > 1:
            assert sum(size.images for size in members) <= limits.images
            assert len(rows) * max(rows, default=0) <= limits.tokens


def test_a_batch_costs_its_rows_times_the_longest_and_empty_rows_nothing() -> None:
    assert padded_tokens([InputSize(5), InputSize(0, images=3), InputSize(2)]) == 10
    assert padded_tokens([InputSize(0), InputSize(0)]) == 0
    assert padded_tokens([]) == 0


def test_rows_fall_in_length_and_equal_ones_keep_their_order() -> None:
    sizes = [InputSize(tokens) for tokens in (3, 7, 3, 7, 7)]
    assert pack(sizes, BatchLimits(inputs=3, tokens=1000)) == [[1, 3, 4], [0, 2]]


def test_a_budget_of_tokens_counts_padding() -> None:
    # 100 and 99 cost 200; a third row would cost 300
    assert pack([InputSize(100), InputSize(99), InputSize(99)], BatchLimits(tokens=299)) == [[0, 1], [2]]


def test_padding_ends_a_batch_early_unless_it_is_small() -> None:
    # 50 in a batch of 100s would waste a quarter of its 200 tokens
    sizes = [InputSize(100), InputSize(50)]
    assert pack(sizes, BatchLimits(tokens=1_000)) == [[0], [1]]
    assert pack(sizes, BatchLimits(tokens=10_000)) == [[0, 1]]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("longest", [256, 1_024])
def test_mixed_lengths_waste_less_than_a_twentieth(seed: int, longest: int) -> None:
    """From labels of three tokens to texts that fill the model, most of them short, as in a suite of tasks."""
    generator = np.random.default_rng(seed)
    tokens = np.exp(generator.uniform(np.log(3), np.log(longest), 400)).astype(int)
    sizes = [InputSize(int(count)) for count in tokens]
    batches = pack(sizes, BatchLimits())
    padded = sum(padded_tokens([sizes[position] for position in batch]) for batch in batches)
    assert 1 - tokens.sum() / padded < 0.05
    # not by giving up on batches
    assert len(batches) < 400 / 4


def test_halves_end_at_one() -> None:
    limits = BatchLimits(inputs=3, images=1, tokens=9)
    assert limits.halved() == BatchLimits(inputs=1, images=1, tokens=4)
    assert BatchLimits(1, 1, 1).halved() == BatchLimits(1, 1, 1)

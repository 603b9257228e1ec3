"""Token budgets: nothing lost or repeated, the budget kept, little padding, work shared."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evaluation.training.batching import deal, pack_sequences


@given(counts=st.lists(st.integers(1, 600), max_size=80), budget=st.integers(1, 2_000))
def test_every_sequence_stands_once_and_the_budget_is_kept(counts: list[int], budget: int) -> None:
    packing = pack_sequences(counts, budget=budget)
    assert sorted(position for chunk in packing.chunks for position in chunk) == list(range(len(counts)))
    for chunk, tokens, padded in zip(packing.chunks, packing.tokens, packing.padded, strict=True):
        lengths = [counts[position] for position in chunk]
        assert tokens == sum(lengths)
        assert padded == len(lengths) * max(lengths)
        assert padded <= budget or len(chunk) == 1


@given(counts=st.lists(st.integers(1, 600), min_size=1, max_size=80), budget=st.integers(1, 2_000))
def test_padding_is_under_five_percent(counts: list[int], budget: int) -> None:
    packing = pack_sequences(counts, budget=budget)
    assert sum(packing.padded) * 0.95 < sum(packing.tokens)


def test_mixed_lengths_take_few_chunks_and_less_than_fixed_rows() -> None:
    generator = np.random.default_rng(6)
    for spread in (0.3, 0.9, 1.5):
        counts = np.exp(generator.normal(np.log(40), spread, 512)).astype(int) + 3
        packing = pack_sequences(counts.tolist(), budget=16_384)
        fixed = sum(32 * counts[start : start + 32].max() for start in range(0, 512, 32))
        assert sum(packing.padded) < 0.7 * fixed
        assert len(packing.chunks) <= 48


def test_sequences_of_one_length_fill_the_budget() -> None:
    chunks = pack_sequences([10] * 25, budget=100).chunks
    assert sorted(map(len, chunks)) == [5, 10, 10]


@given(
    estimates=st.lists(st.integers(1, 5_000), min_size=1, max_size=60),
    processes=st.integers(1, 8),
)
def test_processes_share_a_batch_without_loss_and_evenly(estimates: list[int], processes: int) -> None:
    members = np.arange(100, 100 + len(estimates))
    shares = [deal(members, np.array(estimates), processes=processes, process=process) for process in range(processes)]
    assert sorted(np.concatenate(shares).tolist()) == members.tolist()
    assert max(map(len, shares)) - min(map(len, shares)) <= -(-len(estimates) // processes)
    work = [sum(estimates[member - 100] for member in share) for share in shares]
    assert max(work) <= 2 * max(sum(estimates) / processes, *estimates)


def test_one_long_report_does_not_make_a_process_wait() -> None:
    estimates = np.array([4_000, *[100] * 30])
    shares = [deal(np.arange(31), estimates, processes=2, process=process) for process in (0, 1)]
    assert max(len(share) for share in shares) == 16
    assert 0 in shares[0]
    assert len(shares[0]) == 15

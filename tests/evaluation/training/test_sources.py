"""The order of records: seeded, complete, resumable."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataMissing, RecordInvalid, TrainingRefused
from evaluation.training.sources import (
    OrderSettings,
    Position,
    TrainingData,
    batches,
    epoch_batches,
    require_sources,
)
from tests.evaluation.training.conftest import line, write_lines

SIZES = {"labels": 23, "questions": 7, "reports": 40}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> TrainingData:
    folder = tmp_path_factory.mktemp("sources")
    for name, size in SIZES.items():
        write_lines(folder, name, [line(f"{name} {number} ü", "answer") for number in range(size)])
    return TrainingData(folder)


def test_records_are_read_by_position(data: TrainingData) -> None:
    assert data.counts() == SIZES
    records = data.read([69, 0, 25])
    assert [record.query.text for record in records] == ["reports 39 ü", "labels 0 ü", "questions 2 ü"]
    assert [record.source for record in records] == ["reports", "labels", "questions"]


@given(pairs=st.integers(2, 80), sub_batch=st.integers(0, 20), seed=st.integers(0, 5), epoch=st.integers(0, 3))
def test_every_record_stands_once_in_an_epoch(
    data: TrainingData, pairs: int, sub_batch: int, seed: int, epoch: int
) -> None:
    settings = OrderSettings(pairs=pairs, sub_batch=sub_batch, seed=seed)
    members = epoch_batches(data, settings, epoch)
    assert sorted(np.concatenate(members)) == list(range(70))
    assert max(map(len, members)) <= pairs
    again = epoch_batches(data, settings, epoch)
    assert all(np.array_equal(one, other) for one, other in zip(members, again, strict=True))


def test_another_seed_and_another_epoch_have_another_order(data: TrainingData) -> None:
    orders = [
        np.concatenate(epoch_batches(data, OrderSettings(pairs=16, seed=seed), epoch)).tolist()
        for seed in (1, 2)
        for epoch in (0, 1)
    ]
    assert len({tuple(order) for order in orders}) == 4


def test_sub_batches_are_of_one_source(data: TrainingData) -> None:
    for members in epoch_batches(data, OrderSettings(pairs=16, sub_batch=8, seed=3), 0):
        kinds = data.source[members]
        runs = 1 + int((kinds[1:] != kinds[:-1]).sum())
        assert runs <= 1 + len(members) // 2
        for start in range(0, len(members) - 7, 8):
            if len(members) == 16:
                assert len(set(kinds[start : start + 8].tolist())) == 1


@given(
    weights=st.fixed_dictionaries({name: st.sampled_from((0.0, 0.25, 0.5, 1.0, 1.5, 2.0)) for name in SIZES}),
    sub_batch=st.sampled_from((0, 5)),
)
def test_weights_say_how_often_a_source_is_seen(data: TrainingData, weights: dict[str, float], sub_batch: int) -> None:
    settings = OrderSettings(pairs=10, sub_batch=sub_batch, weights=weights)
    seen: Counter[int] = Counter()
    for epoch in range(4):
        if any(weight * SIZES[name] for name, weight in weights.items()):
            for members in epoch_batches(data, settings, epoch):
                seen.update(members.tolist())
    for number, name in enumerate(data.sources):
        counts = {seen[int(position)] for position in np.flatnonzero(data.source == number)}
        assert counts == {int(4 * weights[name])}, name


@given(start=st.integers(0, 25), sub_batch=st.sampled_from((0, 8)))
def test_a_resumed_order_is_the_rest_of_the_order(data: TrainingData, start: int, sub_batch: int) -> None:
    settings = OrderSettings(pairs=12, sub_batch=sub_batch, weights={"labels": 0.5, "reports": 1.5})
    whole = list(islice(batches(data, settings, Position()), 30))
    place = whole[start][0]
    rest = list(islice(batches(data, settings, place), 30 - start))
    assert [place for place, _ in rest] == [place for place, _ in whole[start:]]
    assert all(np.array_equal(one, other) for (_, one), (_, other) in zip(rest, whole[start:], strict=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (OrderSettings(weights={"other": 1}), "no source 'other'"),
        (OrderSettings(weights={"labels": -1}), "weight of 'labels' is -1"),
        (OrderSettings(weights={"labels": float("nan")}), "weight of 'labels' is nan"),
        (OrderSettings(pairs=1), "at least 2 pairs"),
        (OrderSettings(weights=dict.fromkeys(SIZES, 0.0)), "leave no record"),
    ],
)
def test_settings_that_do_not_fit_are_refused(data: TrainingData, settings: OrderSettings, message: str) -> None:
    with pytest.raises(TrainingRefused, match=message):
        require_sources(data, settings)


def test_a_folder_without_records_and_a_broken_line_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match="holds no training records"):
        TrainingData(tmp_path)
    write_lines(tmp_path, "set", [line("a", "b"), {"messages": []}])
    with pytest.raises(RecordInvalid, match=r"set\.jsonl, line 2, messages: there is no turn"):
        TrainingData(tmp_path)

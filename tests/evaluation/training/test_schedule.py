"""The learning rate by hand."""

import pytest

from evaluation.training.schedule import Schedule


def test_it_rises_to_the_peak_and_falls_along_a_cosine() -> None:
    schedule = Schedule(peak=8.0, steps=12, warm_up=4)
    assert [schedule.rate(step) for step in range(5)] == [2.0, 4.0, 6.0, 8.0, 8.0]
    assert schedule.rate(8) == pytest.approx(4.0)
    assert schedule.rate(10) == pytest.approx(8.0 * (1 - 2**-0.5) / 2)
    assert schedule.rate(12) == pytest.approx(0.0)


def test_without_warm_up_it_begins_at_the_peak() -> None:
    assert Schedule(peak=1.0, steps=1, warm_up=0).rate(0) == 1.0

"""The bootstrap against theory and a plain loop, and its promise of one resampling for all models."""

import numpy as np
import pytest
from scipy import stats

from evaluation.statistics import bootstrap
from evaluation.statistics.bootstrap import bootstrap_means, percentile_interval


def test_equal_to_resampling_by_index():
    """A plain implementation: draw indices, take means."""
    values = np.random.default_rng(0).random((3, 17))
    weights = bootstrap_means(np.eye(17), stratum="task", resamples=50)
    assert weights.sum(axis=0) == pytest.approx(np.ones(50))
    expected = [[(row * weights[:, number]).sum() for number in range(50)] for row in values]
    assert bootstrap_means(values, stratum="task", resamples=50) == pytest.approx(np.array(expected))


def test_weights_are_multinomial():
    counts = bootstrap_means(np.eye(8), stratum="task", resamples=20_000) * 8
    assert counts.mean(axis=1) == pytest.approx(np.ones(8), abs=0.03)
    assert counts.var(axis=1) == pytest.approx(np.full(8, 7 / 8), abs=0.04)
    assert np.cov(counts)[0, 1] == pytest.approx(-1 / 8, abs=0.03)


def test_the_interval_of_a_proportion_is_that_of_the_binomial():
    hits = np.array([[1.0] * 30 + [0.0] * 70])
    lower, upper = percentile_interval(bootstrap_means(hits, stratum="task"))[:, 0]
    assert (lower, upper) == pytest.approx(stats.binom.interval(0.95, 100, 0.3) / np.array(100), abs=0.011)


def test_the_interval_agrees_with_scipy():
    values = np.random.default_rng(1).random(200)
    interval = percentile_interval(bootstrap_means(values[np.newaxis], stratum="task"))[:, 0]
    reference = stats.bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert interval == pytest.approx(np.array(reference), abs=0.003)


def test_all_models_share_the_resampling_of_a_task():
    one, other = np.random.default_rng(3).random((2, 1, 40))
    difference = bootstrap_means(one, stratum="task") - bootstrap_means(other, stratum="task")
    assert difference == pytest.approx(bootstrap_means(one - other, stratum="task"))


def test_tasks_are_resampled_apart():
    values = np.random.default_rng(4).random((1, 40))
    one, other = (bootstrap_means(values, stratum=name)[0] for name in ("one", "other"))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.05


def test_memory_blocks_change_nothing(monkeypatch):
    values = np.random.default_rng(5).random((2, 30))
    whole = bootstrap_means(values, stratum="task", resamples=100)
    monkeypatch.setattr(bootstrap, "_BLOCK_NUMBERS", 70)
    assert bootstrap_means(values, stratum="task", resamples=100) == pytest.approx(whole)


def test_a_single_query_has_no_width():
    assert percentile_interval(bootstrap_means(np.array([[0.25]]), stratum="task")).tolist() == [[0.25], [0.25]]

"""The bootstrap against theory and a plain loop, and its promise of one resampling for all models."""

import hashlib

import numpy as np
import pytest
from scipy import stats

from evaluation.statistics import bootstrap
from evaluation.statistics.bootstrap import bootstrap_means, percentile_interval, replicates


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


def test_the_size_of_counting_blocks_changes_nothing(monkeypatch):
    values = np.random.default_rng(5).random((2, 30))
    whole = bootstrap_means(values, stratum="task", resamples=100)
    monkeypatch.setattr(bootstrap, "_COUNT_NUMBERS", 70)
    assert bootstrap_means(values, stratum="task", resamples=100) == pytest.approx(whole)


def test_more_queries_than_a_short_number_counts():
    n = 2**16 + 3
    mean = bootstrap_means(np.arange(n, dtype=np.float64)[np.newaxis], stratum="task", resamples=200)
    assert mean.mean() == pytest.approx((n - 1) / 2, rel=0.002)


def test_a_single_query_has_no_width():
    assert percentile_interval(bootstrap_means(np.array([[0.25]]), stratum="task")).tolist() == [[0.25], [0.25]]


def test_many_models_at_once_are_each_alone():
    values = np.random.default_rng(6).random((5, 300))
    together = bootstrap_means(values, stratum="task", resamples=2_000)
    alone = np.concatenate([bootstrap_means(row[np.newaxis], stratum="task", resamples=2_000) for row in values])
    assert together == pytest.approx(alone, abs=1e-12)


def test_replicates_begin_with_the_observed_mean():
    found = replicates(np.array([[0.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0]]), stratum="task", resamples=10)
    assert found.shape == (2, 11)
    assert found[:, 0].tolist() == [0.5, 0.75]


def test_values_are_the_same_in_every_process():
    """A seed promises numbers, not only their distribution: these were drawn once with NumPy's PCG64."""
    queries = np.arange(5, dtype=np.float64)
    seed = [42, 5, int.from_bytes(hashlib.sha256(b"task").digest()[:8])]
    drawn = np.random.default_rng(seed).integers(0, 5, size=(3, 5), dtype=np.uint16)
    expected = queries[drawn].mean(axis=1)
    assert bootstrap_means(queries[np.newaxis], stratum="task", resamples=3)[0] == pytest.approx(expected)

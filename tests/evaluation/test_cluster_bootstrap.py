"""Resampling by cluster against a plain loop over drawn images, and its promise of one resampling for all cells."""

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.statistics import clusters as clusters_module
from evaluation.statistics.bootstrap import replicates
from evaluation.statistics.clusters import cluster_estimate, cluster_replicates


def drawn_clusters(stratum, n, resamples):
    """The documented draws: PCG64 seeded with 42, the number of clusters and the name's hash."""
    seed = [42, n, int.from_bytes(hashlib.sha256(stratum.encode()).digest()[:8])]
    return np.random.default_rng(seed).integers(0, n, size=(resamples, n), dtype=np.uint16)


def by_index(row, names, stratum, resamples, used):
    """Images of drawn clusters one by one, as often as their cluster was drawn; then their plain mean."""
    members = {}
    for position, name in enumerate(names):
        members.setdefault(name, []).append(position)
    order = list(members.values())
    means = []
    for draw in drawn_clusters(stratum, len(order), resamples):
        images = [image for cluster in draw for image in order[cluster] if used[image]]
        means.append(row[images].mean() if images else np.nan)
    return np.array(means)


@settings(max_examples=30)
@given(data=st.data())
def test_equal_to_drawing_images_by_index(data):
    names = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12))
    generator = np.random.default_rng(data.draw(st.integers(0, 999)))
    values = generator.standard_normal((3, len(names)))
    used = generator.random((3, len(names))) < 0.7
    used[:, 0] = True
    found = cluster_replicates(values, clusters=names, stratum="set", used=used, resamples=40)
    for number, row in enumerate(values):
        expected = by_index(row, names, "set", 40, used[number])
        np.testing.assert_allclose(found[number, 1:], expected, rtol=0, atol=1e-12)
        assert found[number, 0] == pytest.approx(row[used[number]].mean(), abs=1e-12)


def test_a_thousand_images_by_index():
    generator = np.random.default_rng(5)
    names = [f"patient {number // 3}" for number in range(1_000)]
    values = generator.standard_normal((2, 1_000))
    found = cluster_replicates(values, clusters=names, stratum="chest", resamples=100)
    for row, replicate in zip(values, found, strict=True):
        expected = by_index(row, names, "chest", 100, np.ones(1_000, dtype=bool))
        np.testing.assert_allclose(replicate[1:], expected, rtol=0, atol=1e-12)


def test_images_without_company_are_resampled_as_queries_are():
    values = np.random.default_rng(1).random((4, 30))
    names = [str(number) for number in range(30)]
    found = cluster_replicates(values, clusters=names, stratum="set", resamples=200)
    np.testing.assert_allclose(found, replicates(values, stratum="set", resamples=200), rtol=0, atol=1e-12)


def test_cells_and_subsets_are_paired():
    """A cell of some images moves with the same draws as one of all: doubling its values doubles its replicates."""
    values = np.random.default_rng(2).random((1, 40))
    names = [str(number // 2) for number in range(40)]
    used = np.arange(40) < 25
    both = cluster_replicates(np.concatenate([values, 2 * values]), clusters=names, stratum="s", used=used)
    assert both[1] == pytest.approx(2 * both[0])
    alone = cluster_replicates(2 * values, clusters=names, stratum="s", used=used)
    assert alone[0] == pytest.approx(both[1], abs=1e-12)


def test_values_of_images_that_are_not_used_do_not_matter():
    values = np.array([[1.0, np.nan, 3.0]])
    found = cluster_replicates(values, clusters=["a", "b", "c"], stratum="s", used=np.array([True, False, True]))
    assert found[0, 0] == 2.0
    with pytest.raises(ValueError, match="not finite"):
        cluster_replicates(values, clusters=["a", "b", "c"], stratum="s")


def test_a_large_set_is_drawn_in_blocks_with_the_same_numbers(monkeypatch):
    values = np.random.default_rng(3).random((2, 50))
    names = [str(number) for number in range(50)]
    kept = cluster_replicates(values, clusters=names, stratum="s", resamples=300)
    monkeypatch.setattr(clusters_module, "_KEPT_NUMBERS", 0)
    assert cluster_replicates(values, clusters=names, stratum="s", resamples=300) == pytest.approx(kept, abs=1e-12)


def test_resamples_without_a_used_image_are_counted_and_left_out():
    names = [str(number) for number in range(4)]
    used = np.array([True, True, True, False])
    values = np.array([[1.0, 2.0, 6.0, 100.0]])
    found = cluster_replicates(values, clusters=names, stratum="s", used=used)
    result = cluster_estimate(found[0], n_clusters=3)
    draws = drawn_clusters("s", 4, 10_000)
    assert result.n_empty == (draws == 3).all(axis=1).sum() > 0
    assert result.estimate.value == 3.0
    assert 1.0 <= result.estimate.lower < 3.0 < result.estimate.upper <= 6.0


def test_too_many_empty_resamples_leave_no_interval():
    used = np.arange(40) < 2
    found = cluster_replicates(
        np.arange(40.0)[np.newaxis], clusters=[str(n) for n in range(40)], stratum="s", used=used
    )
    result = cluster_estimate(found[0], n_clusters=2)
    assert result.n_empty > 500
    assert (result.estimate.value, result.estimate.lower, result.estimate.upper) == (0.5, None, None)


def test_one_cluster_leaves_no_interval():
    found = cluster_replicates(np.array([[1.0, 2.0]]), clusters=["a", "a"], stratum="s")
    assert cluster_estimate(found[0], n_clusters=1).estimate.lower is None


def test_clusters_widen_the_interval():
    """Four copies of each image in one patient: the interval is that of the patients, not of four times as many."""
    patients = np.random.default_rng(4).random(50)
    names = [str(number // 4) for number in range(200)]
    copied = cluster_replicates(np.repeat(patients, 4)[np.newaxis], clusters=names, stratum="s")
    single = cluster_replicates(patients[np.newaxis], clusters=[str(n) for n in range(50)], stratum="s")
    assert copied == pytest.approx(single, abs=1e-12)


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b", "c"]])
def test_shapes_must_fit(names):
    with pytest.raises(ValueError, match="do not fit"):
        cluster_replicates(np.zeros((1, 2)), clusters=names, stratum="s")

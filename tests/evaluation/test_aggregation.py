"""Aggregates against values computed by hand."""

import numpy as np
import pytest

from evaluation.statistics.bootstrap import bootstrap_means
from evaluation.suites.medheb.aggregation import aggregate
from evaluation.types import RankOutcomes
from evaluation.vocabulary import Domain, EvidenceForm, Family, Split
from tests.evaluation.suite_folders import suite_of, task_spec
from tests.evaluation.test_results import task_result

SUITE = suite_of(
    task_spec("A", family=Family.TEXT_TO_TEXT, domain=Domain.NEURO),
    task_spec("B", family=Family.TEXT_TO_TEXT, domain=Domain.THORACIC, split=Split.HELD_OUT),
    task_spec("C", family=Family.IMAGE_TO_LABEL, domain=Domain.NEURO, evidence_form=EvidenceForm.IMAGE_2D),
    task_spec("D", family=Family.IMAGE_TO_LABEL, domain=Domain.ABDOMINAL, evidence_form=EvidenceForm.VOLUME_3D),
)


def scored(task, hits, n=10):
    """A task in which `hits` of `n` queries find their candidate first."""
    above = np.array([0] * hits + [1] * (n - hits), dtype=np.int32)
    ones = np.ones(n, dtype=np.int32)
    outcomes = RankOutcomes(above=above, tied=ones * 0, relevant=ones, pool=ones * 4)
    return task_result(task, outcomes=outcomes, records=np.arange(n, dtype=np.int32))


def aggregates_of(*results):
    """By scope, key and metric."""
    found = aggregate(SUITE, {result.task: result.outcomes for result in results})
    return {(value.scope, value.key, value.metric): value for value in found}


def test_values_and_coverage_by_hand():
    """A 0.2, B 0.4 in one family (mean 0.3); C 0.9 alone of two in the other."""
    values = aggregates_of(scored("A", 2), scored("B", 4), scored("C", 9))
    found = {key: (value.value, value.n_tasks, value.n_expected) for key, value in values.items()}
    assert (
        found.items()
        >= {
            ("overall", "overall", "hit@1"): (pytest.approx(0.6), 3, 4),
            ("overall", "overall", "cv"): (pytest.approx(0.3 / 0.6), 3, 4),
            ("family", "image_to_label", "hit@1"): (pytest.approx(0.9), 1, 2),
            ("family", "text_to_text", "hit@1"): (pytest.approx(0.3), 2, 2),
            ("domain", "neuro", "hit@1"): (pytest.approx(0.55), 2, 2),
            ("domain", "thoracic", "hit@1"): (pytest.approx(0.4), 1, 1),
            ("evidence_form", "image_2d", "hit@1"): (pytest.approx(0.9), 1, 1),
            ("evidence_form", "text", "hit@1"): (pytest.approx(0.3), 2, 2),
            ("split", "in_distribution", "hit@1"): (pytest.approx(0.55), 2, 3),
            ("split", "held_out", "hit@1"): (pytest.approx(0.4), 1, 1),
        }.items()
    )


def test_a_group_of_equal_tasks_has_a_narrower_interval():
    values = aggregates_of(scored("A", 5), scored("B", 5))
    family, single = values["family", "text_to_text", "hit@1"], values["domain", "neuro", "hit@1"]
    assert family.upper - family.lower < single.upper - single.lower
    assert family.lower < 0.5 < family.upper


def test_the_interval_of_a_mean_is_that_of_the_mean_of_resamples():
    values = aggregates_of(scored("A", 2), scored("B", 7))
    a, b = np.array([[1.0] * 2 + [0.0] * 8]), np.array([[1.0] * 7 + [0.0] * 3])
    means = (bootstrap_means(a, stratum="A") + bootstrap_means(b, stratum="B"))[0] / 2
    family = values["family", "text_to_text", "hit@1"]
    assert (family.lower, family.upper) == pytest.approx((np.quantile(means, 0.025), np.quantile(means, 0.975)))


def test_without_two_families_or_without_hits_there_is_no_cv():
    assert ("overall", "overall", "cv") not in aggregates_of(scored("A", 2))
    assert ("overall", "overall", "cv") not in aggregates_of(scored("A", 0), scored("C", 0))


def test_a_cv_that_some_resamples_do_not_have_has_no_interval():
    value = aggregates_of(scored("A", 1, n=2), scored("C", 1, n=2))["overall", "overall", "cv"]
    assert value.value == 0
    assert (value.lower, value.upper) == (None, None)


def test_nothing_scored_gives_nothing():
    assert aggregates_of() == {}

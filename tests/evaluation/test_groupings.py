"""Means of every grouping: membership from the catalogue's own columns, values worked out on paper."""

from collections import Counter

import pytest

from evaluation.metrics.ranking import points_from_ties
from evaluation.suites.medheb.aggregation import aggregate
from evaluation.suites.medheb.catalogue import medheb_suite, task_rows
from evaluation.suites.medheb.groupings import suite_groups
from evaluation.types import AggregateValue
from evaluation.vocabulary import AggregateScope, EvidenceForm, Family, Granularity, PairingType, Split
from tests.evaluation.outcomes import outcomes_of, share_of_hits
from tests.evaluation.suite_folders import suite_of, task_spec

TASKS = suite_of(
    task_spec(
        "Label",
        family=Family.IMAGE_TO_LABEL,
        evidence_form=EvidenceForm.IMAGE_2D,
        pairing_type=PairingType.IMAGE_TEXT,
    ),
    task_spec(
        "Question",
        family=Family.QUESTION_ANSWERING,
        evidence_form=EvidenceForm.VOLUME_3D,
        pairing_type=PairingType.IMAGE_TEXT,
        granularity=Granularity.QUESTION_CONDITIONED,
    ),
    task_spec(
        "OtherQuestion",
        family=Family.QUESTION_ANSWERING,
        evidence_form=EvidenceForm.IMAGE_2D,
        pairing_type=PairingType.IMAGE_TEXT,
        granularity=Granularity.QUESTION_CONDITIONED,
        split=Split.HELD_OUT,
    ),
)
# Hit@1 of 60%, 40% and 20%, in pools of 4, 2 and 5: chance 25%, 50% and 20%.
OUTCOMES = {
    "Label": share_of_hits(0.6, queries=10, pool=4),
    "Question": share_of_hits(0.4, queries=10, pool=2),
    "OtherQuestion": share_of_hits(0.2, queries=10, pool=5),
}


def values(found: tuple[AggregateValue, ...], metric: str) -> dict[tuple[str, str], float]:
    return {(value.scope, value.key): value.value for value in found if value.metric == metric}


def test_means_of_every_scope() -> None:
    assert values(aggregate(TASKS, OUTCOMES), "hit@1") == pytest.approx(
        {
            ("overall", "overall"): 0.45,  # the mean of 60% and 30%
            ("family", "image_to_label"): 0.6,
            ("family", "question_answering"): 0.3,
            ("domain", "thoracic"): 0.4,
            ("evidence_form", "image_2d"): 0.4,
            ("evidence_form", "volume_3d"): 0.4,
            ("pairing_type", "image_text"): 0.4,
            ("granularity", "global_label"): 0.6,
            ("granularity", "question_conditioned"): 0.3,
            ("split", "in_distribution"): 0.5,
            ("split", "held_out"): 0.2,
            ("release_group", "2d"): 0.6,  # the release keeps held-out tasks apart
            ("release_group", "3d"): 0.4,
            ("release_group", "ood"): 0.2,
            ("release_group", "all"): 0.5,
            ("release_group", "all_ood"): 0.4,
        }
    )


def test_adjusted_means_use_the_chance_of_each_task() -> None:
    """(0.6 - 0.25) / 0.75 = 7/15; (0.4 - 0.5) / 0.5 = -0.2; (0.2 - 0.2) / 0.8 = 0."""
    adjusted = values(aggregate(TASKS, OUTCOMES), "adjusted_hit@1")
    assert adjusted["evidence_form", "image_2d"] == pytest.approx(7 / 30)
    assert adjusted["evidence_form", "volume_3d"] == pytest.approx(-0.2)
    assert adjusted["family", "question_answering"] == pytest.approx(-0.1)
    assert adjusted["overall", "overall"] == pytest.approx((7 / 15 - 0.1) / 2)


def test_cv_over_families() -> None:
    """Family means 0.6 and 0.3: mean 0.45, population deviation 0.15."""
    assert values(aggregate(TASKS, OUTCOMES), "cv") == pytest.approx({("overall", "overall"): 1 / 3})


def test_a_group_with_missing_tasks_says_how_many() -> None:
    found = aggregate(TASKS, {name: OUTCOMES[name] for name in ("Label", "Question")})
    counts = {(value.scope, value.key): (value.n_tasks, value.n_expected) for value in found if value.metric == "hit@1"}
    assert counts["overall", "overall"] == (2, 3)
    assert counts["family", "question_answering"] == (1, 2)
    assert counts["release_group", "all"] == (2, 2)
    assert ("split", "held_out") not in counts


def test_every_value_is_inside_of_its_interval() -> None:
    for value in aggregate(TASKS, OUTCOMES):
        assert value.lower is not None
        assert value.lower <= value.value <= value.upper
        assert value.lower < value.upper


def test_a_task_in_which_nothing_can_be_wrong_has_no_adjusted_score() -> None:
    outcomes = {**OUTCOMES, "Label": outcomes_of([1, 1, 1], pool=1)}
    adjusted = values(aggregate(TASKS, outcomes), "adjusted_hit@1")
    assert ("family", "question_answering") in adjusted
    assert ("family", "image_to_label") not in adjusted
    assert ("overall", "overall") not in adjusted


def test_nothing_scored_has_no_means() -> None:
    assert aggregate(TASKS, {}) == ()


def test_ties_would_be_worth_points_to_a_stable_sort() -> None:
    """Two hits of four share their place with one other: 0.25 expected each of 0.5 less than what the sort gives."""
    assert points_from_ties(outcomes_of([1, 1, 0, 0], tied=1)) == pytest.approx(0.25)
    assert points_from_ties(outcomes_of([1, 0])) == 0


def test_groups_of_the_catalogue() -> None:
    """Counted from the rows of the catalogue; the release's groups as the names of its configuration say."""
    rows = task_rows()
    names = [row["repo_category"] for row in rows]
    expected = {
        "2d": sum(name.startswith("MED_2D") for name in names),
        "3d": sum(name.startswith("MED_3D") for name in names),
        "txt": sum(name.startswith("MED_T2T") for name in names),
        "ood": sum(name.startswith("MED_OOD") for name in names),
        "all": sum(not name.startswith("MED_OOD") for name in names),
        "all_ood": 107,
    }
    groups = suite_groups(medheb_suite())
    found = {group.key: len(group.tasks) for group in groups if group.scope is AggregateScope.RELEASE_GROUP}
    assert found == expected
    assert (found["ood"], found["all"]) == (11, 96)
    domains = {group.key: len(group.tasks) for group in groups if group.scope is AggregateScope.DOMAIN}
    assert domains == dict(Counter(row["domain"] for row in rows))


def test_every_task_is_once_in_every_other_scope() -> None:
    suite = medheb_suite()
    for scope in set(AggregateScope) - {AggregateScope.OVERALL, AggregateScope.RELEASE_GROUP}:
        names = [name for group in suite_groups(suite) if group.scope is scope for name in group.tasks]
        assert sorted(names) == sorted(spec.name for spec in suite.tasks)

"""A board of made-up models: the same numbers as one model alone, ranks and analyses as expected, and its JSON."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from evaluation.errors import ResultInvalid, TaskUnknown
from evaluation.statistics import bootstrap
from evaluation.suites.medheb.aggregation import aggregate
from evaluation.suites.medheb.board import ANALYSES, BoardStatistics, Standing, board_from_json, board_to_json
from evaluation.suites.medheb.board_statistics import board_statistics
from evaluation.types import RankOutcomes
from evaluation.vocabulary import Domain, Family, Split
from tests.evaluation.outcomes import outcomes_of, share_of_hits
from tests.evaluation.suite_folders import suite_of, task_spec

QUERIES = 60
RESAMPLES = 500
SUITE = suite_of(
    *(task_spec(family.value, family=family, domain=Domain.THORACIC) for family in Family),
    task_spec("held out", family=Family.TEXT_TO_TEXT, domain=Domain.NEURO, split=Split.HELD_OUT),
)
NAMES = [spec.name for spec in SUITE.tasks]


def model(shares: dict[str, float], seed: int) -> dict[str, RankOutcomes]:
    """A model that hits the given share of each task's queries, in an order of its own."""
    rng = np.random.default_rng(seed)
    return {
        name: outcomes_of(rng.permutation([int(number < round(share * QUERIES)) for number in range(QUERIES)]))
        for name, share in shares.items()
    }


STRONG = dict.fromkeys(NAMES, 0.8)
WEAK = dict.fromkeys(NAMES, 0.3)
UNEVEN = {**STRONG, "region_grounding": 0.2, "modality_bridging": 0.1, "held out": 0.4}
OUTCOMES = {
    "strong": model(STRONG, 1),
    "alike": model(STRONG, 2),
    "weak": model(WEAK, 3),
    "uneven": model(UNEVEN, 4),
    "part": {name: ranks for name, ranks in model(STRONG, 5).items() if name != "held out"},
}


@pytest.fixture(scope="module")
def board() -> BoardStatistics:
    return board_statistics(SUITE, OUTCOMES, baselines=["weak"], resamples=RESAMPLES)


def standings(board: BoardStatistics, scope: str, key: str) -> dict[str, Standing]:
    (group,) = [group for group in board.groups if (group.scope, group.key) == (scope, key)]
    return {standing.model: standing for standing in group.standings}


def analyses(board: BoardStatistics, name: str) -> dict[str, float]:
    return {found.model: found.value for found in board.analyses if found.analysis == name}


def test_values_and_intervals_are_those_of_the_model_alone() -> None:
    whole = board_statistics(SUITE, OUTCOMES)
    for name, outcomes in OUTCOMES.items():
        for value in aggregate(SUITE, outcomes):
            if value.metric != "hit@1":
                continue
            standing = standings(whole, value.scope, value.key)[name]
            assert (standing.value, standing.lower, standing.upper) == pytest.approx(
                (value.value, value.lower, value.upper), abs=1e-12
            )
            assert standing.n_tasks == value.n_tasks


def test_models_that_cannot_be_told_apart_share_a_group(board: BoardStatistics) -> None:
    overall = standings(board, "overall", "overall")
    assert [overall[name].rank for name in ("strong", "alike", "uneven", "weak")] == [1, 1, 3, 4]
    assert [overall[name].tie_group for name in ("strong", "alike", "uneven", "weak")] == [1, 1, 3, 4]
    assert (overall["strong"].rank_lower, overall["strong"].rank_upper) == (1, 2)
    assert (overall["weak"].rank_lower, overall["weak"].rank_upper) == (4, 4)


def test_an_incomplete_model_has_a_value_and_no_rank(board: BoardStatistics) -> None:
    part = standings(board, "overall", "overall")["part"]
    assert (part.n_tasks, part.rank, part.rank_lower, part.tie_group) == (8, None, None, None)
    assert part.value == pytest.approx(0.8)
    assert standings(board, "domain", "thoracic")["part"].rank is not None
    assert "part" not in standings(board, "domain", "neuro")
    assert "part" not in analyses(board, "cv")


def test_complete_models_stand_first(board: BoardStatistics) -> None:
    (overall,) = [group for group in board.groups if group.scope == "overall"]
    assert [standing.model for standing in overall.standings] == ["alike", "strong", "uneven", "weak", "part"]


def test_analyses_on_paper(board: BoardStatistics) -> None:
    """uneven's families: five of 0.8, text to text (0.8 + 0.4) / 2 = 0.6, region 0.2, bridging 0.1 (12, 6 of 60)."""
    families = np.array([0.8] * 5 + [0.6, 0.2, 0.1])
    established = families[:6].mean()
    assert analyses(board, "cv")["uneven"] == pytest.approx(families.std() / families.mean())
    assert analyses(board, "drop_both")["uneven"] == pytest.approx(established - 0.15)
    assert analyses(board, "drop_region_grounding")["uneven"] == pytest.approx(established - 0.2)
    assert analyses(board, "drop_modality_bridging")["uneven"] == pytest.approx(established - 0.1)
    assert analyses(board, "held_out_gap")["uneven"] == pytest.approx((6 * 0.8 + 0.2 + 0.1) / 8 - 0.4)
    assert analyses(board, "held_out_gap_shared_families")["uneven"] == pytest.approx(0.8 - 0.4)
    assert analyses(board, "points_from_ties")["uneven"] == 0
    assert {found.analysis for found in board.analyses} == set(ANALYSES)


def test_intervals_of_analyses_hold_their_values(board: BoardStatistics) -> None:
    for found in board.analyses:
        if found.analysis != "points_from_ties":
            assert found.lower <= found.value <= found.upper


def test_the_interval_of_a_drop_agrees_with_a_plain_loop(board: BoardStatistics) -> None:
    """Resample the queries of each task by index, take the drop each time."""
    rng = np.random.default_rng(7)
    hits = {name: 1.0 - ranks.above for name, ranks in OUTCOMES["uneven"].items()}
    drops = []
    for _ in range(2_000):
        means = {name: values[rng.integers(0, QUERIES, QUERIES)].mean() for name, values in hits.items()}
        families = {name: means[name] for name in NAMES if name != "held out"}
        families["text_to_text"] = (means["text_to_text"] + means["held out"]) / 2
        under = (families.pop("region_grounding") + families.pop("modality_bridging")) / 2
        drops.append(np.mean(list(families.values())) - under)
    (found,) = [one for one in board.analyses if (one.analysis, one.model) == ("drop_both", "uneven")]
    assert (found.lower, found.upper) == pytest.approx(tuple(np.quantile(drops, [0.025, 0.975])), abs=0.012)


def test_buckets_come_from_the_baselines_alone(board: BoardStatistics) -> None:
    """The baseline reaches 30% in every task: medium. Complete means there: 0.8, 0.8, 0.3 and uneven's."""
    (bucket,) = board.buckets
    uneven = (6 * 0.8 + 0.2 + 0.1 + 0.4) / 9
    assert bucket.bucket == "medium"
    assert bucket.n_models == 4
    assert bucket.value == pytest.approx(np.std([0.8, 0.8, 0.3, uneven]))
    assert bucket.lower < bucket.value < bucket.upper
    assert standings(board, "bucket", "medium")["weak"].rank == 4
    others = {**OUTCOMES, "late": model(dict.fromkeys(NAMES, 0.01), 9)}
    assert board_statistics(SUITE, others, baselines=["weak"], resamples=10).buckets[0].tasks == bucket.tasks


def test_points_from_ties_are_averaged_as_the_overall_score() -> None:
    tied = {name: outcomes_of([1] * QUERIES, tied=1) for name in NAMES}
    board = board_statistics(SUITE, {"constant": tied}, resamples=10)
    assert analyses(board, "points_from_ties")["constant"] == pytest.approx(0.5)


def test_the_same_numbers_again(board: BoardStatistics) -> None:
    turned = {name: OUTCOMES[name] for name in reversed(OUTCOMES)}
    assert board_statistics(SUITE, turned, baselines=["weak"], resamples=RESAMPLES) == board


def test_adding_a_model_moves_no_interval(board: BoardStatistics) -> None:
    alone = board_statistics(SUITE, {"uneven": OUTCOMES["uneven"]}, resamples=RESAMPLES)
    one, other = (standings(found, "family", "text_to_text")["uneven"] for found in (alone, board))
    assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper))


def test_it_goes_through_json_unchanged(board: BoardStatistics) -> None:
    assert board_from_json(json.loads(json.dumps(board_to_json(board)))) == board


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "schema_version"),
        ({"groups": [{"scope": "colour", "key": "red", "n_expected": 1, "standings": []}]}, "scope"),
        ({"models": None}, "models"),
        ({"extra": 1}, "extra"),
    ],
)
def test_other_json_is_refused(board: BoardStatistics, change: dict[str, object], message: str) -> None:
    with pytest.raises(ResultInvalid, match=message):
        board_from_json(board_to_json(board) | change)


def test_models_on_different_data_are_refused() -> None:
    other = {**OUTCOMES["weak"], "text_to_text": share_of_hits(0.5, queries=QUERIES, pool=9)}
    with pytest.raises(ResultInvalid, match="text_to_text: strong and other"):
        board_statistics(SUITE, {"strong": OUTCOMES["strong"], "other": other}, resamples=10)


def test_a_task_of_another_suite_is_refused() -> None:
    with pytest.raises(TaskUnknown, match="stranger"):
        board_statistics(SUITE, {"a": {"stranger": outcomes_of([1, 0])}}, resamples=10)


def test_a_board_without_models_is_empty() -> None:
    board = board_statistics(SUITE, {}, resamples=10)
    assert (board.models, board.groups, board.analyses, board.buckets) == ((), (), (), ())


def test_memory_does_not_grow_with_the_number_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights are made for a share of the resamples at a time."""
    sizes = []
    real = bootstrap.draw_counts

    def remember(*arguments: Any, **named: Any) -> Iterator[np.ndarray]:
        for counts in real(*arguments, **named):
            sizes.append(counts.size)
            yield counts

    monkeypatch.setattr(bootstrap, "draw_counts", remember)
    bootstrap.bootstrap_means(np.zeros((2, 20_000)), stratum="task", resamples=100)
    assert sum(sizes) == 100 * 20_000
    assert max(sizes) <= 2**18

"""Boards: who is ranked where, who is listed without a rank and why, and who is not shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.models import Suite
from leaderboard.models.vocabulary import AggregateScope
from leaderboard.selectors.board_rows import Board, Missing
from leaderboard.selectors.board_tables import stored_boards
from leaderboard.selectors.catalogue import live_suites
from leaderboard.selectors.place_ranks import competition_ranks
from tests.board_documents import store_statistics
from tests.factories import make_revision, make_run, make_scored_run, make_suite, make_task


@pytest.fixture
def suite(db) -> Suite:
    """Two families with two tasks and one task, in two domains."""
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    make_task(suite, position=0, name="a", family="image_to_label", domain="thoracic", chance=0.5)
    make_task(suite, position=1, name="b", family="image_to_label", domain="neuro", chance=0.25)
    make_task(suite, position=2, name="c", family="text_to_text", domain="thoracic", chance=0.0)
    return suite


def overall() -> Board:
    return group(AggregateScope.OVERALL, "")


def group(scope: AggregateScope, key: str) -> Board:
    store_statistics(Suite.objects.get(slug="small"))
    return stored_boards(live_suites()[0], [(scope, key)])[scope, key].board


def ranked(board: Board) -> list[tuple[int | None, str]]:
    return [(row.rank, row.model.name) for row in board.rows]


def scored(suite: Suite, name: str, *hits: float | None, **facts):
    known = {task: hit for task, hit in zip("abc", hits, strict=True) if hit is not None}
    failures = {task: "input_unsupported" for task in "abc" if task not in known}
    return make_scored_run(suite=suite, hits=known, failures=failures, revision=make_revision(f"lab/{name}", **facts))


def test_ranks_are_shared_by_equal_values_and_count_them_all() -> None:
    assert competition_ranks({"a": 0.5, "b": 0.4, "c": 0.4, "d": 0.1}) == {"a": 1, "b": 2, "c": 2, "d": 4}


def test_sums_that_differ_in_the_last_bit_are_equal() -> None:
    assert competition_ranks({"a": 0.1 + 0.2, "b": 0.3}) == {"a": 1, "b": 1}


@given(st.dictionaries(st.integers(), st.integers(0, 8).map(lambda eighths: eighths / 8)))
def test_a_rank_is_one_more_than_the_number_of_better_ones(values) -> None:
    expected = {key: 1 + sum(other > value for other in values.values()) for key, value in values.items()}
    assert competition_ranks(values) == expected


def test_the_overall_board_ranks_by_the_mean_of_family_means(suite) -> None:
    scored(suite, "many-tasks", 0.9, 0.9, 0.1)  # (0.9 + 0.1) / 2 = 0.5, though 0.633 over tasks
    scored(suite, "even", 0.5, 0.5, 0.6)  # (0.5 + 0.6) / 2 = 0.55
    board = overall()
    assert ranked(board) == [(1, "even"), (2, "many-tasks")]
    assert board.rows[0].mean.value == pytest.approx(0.55)
    assert board.rows[1].groups["image_to_label"].value == pytest.approx(0.9)
    assert board.rows[1].cv == pytest.approx(0.4 / 0.5)


def test_chance_is_averaged_like_the_scores(suite) -> None:
    board = overall()
    assert {key: board.group_chance[key] for key in ("image_to_label", "text_to_text")} == pytest.approx(
        {"image_to_label": 0.375, "text_to_text": 0.0}
    )
    assert board.chance == pytest.approx(0.1875)


def test_equal_means_share_a_rank(suite) -> None:
    scored(suite, "one", 0.4, 0.6, 0.5)
    scored(suite, "two", 0.6, 0.4, 0.5)
    scored(suite, "three", 0.1, 0.1, 0.1)
    assert ranked(overall()) == [(1, "one"), (1, "two"), (3, "three")]


def test_an_incomplete_row_has_no_rank_whatever_its_mean(suite) -> None:
    scored(suite, "partial", 1.0, 1.0, None)
    scored(suite, "whole", 0.1, 0.1, 0.1)
    board = overall()
    assert ranked(board) == [(1, "whole"), (None, "partial")]
    partial = board.rows[1]
    assert (partial.n_tasks, partial.n_expected) == (2, 3)
    assert partial.missing == (Missing("input_unsupported", 1),)


def test_a_row_can_be_incomplete_overall_and_ranked_in_a_family(suite) -> None:
    scored(suite, "partial", 1.0, 1.0, None)
    assert ranked(group(AggregateScope.FAMILY, "image_to_label")) == [(1, "partial")]
    missing = group(AggregateScope.FAMILY, "text_to_text").rows[0]
    assert (missing.rank, missing.n_tasks, missing.n_expected) == (None, 0, 1)
    assert missing.missing == (Missing("input_unsupported", 1),)


def test_a_task_whose_data_came_later_makes_earlier_runs_incomplete(suite) -> None:
    scored(suite, "early", 0.5, 0.5, 0.5)
    make_task(suite, position=3, name="d", family="image_to_label", domain="thoracic")
    row = overall().rows[0]
    assert (row.rank, row.n_tasks, row.n_expected) == (None, 3, 4)
    assert row.missing == (Missing("", 1),)


def test_tasks_that_were_cut_short_are_a_reason(suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.5, "b": 0.5})
    assert overall().rows[0].missing == (Missing("cancelled", 1),)


def test_models_whose_owner_opted_out_and_unpublished_runs_are_not_shown(suite) -> None:
    scored(suite, "hidden", 0.9, 0.9, 0.9, owner_opted_out=True)
    draft = scored(suite, "draft", 0.8, 0.8, 0.8)
    draft.is_published = False
    draft.save()
    make_run(suite=suite)
    scored(suite, "shown", 0.1, 0.1, 0.1)
    assert ranked(overall()) == [(1, "shown")]
    assert live_suites()[0].n_published == 1


def test_a_family_board_has_every_task_with_its_score_and_the_score_above_chance(suite) -> None:
    scored(suite, "model", 0.75, 0.5, 0.9)
    board = group(AggregateScope.FAMILY, "image_to_label")
    row = board.rows[0]
    assert [task.name for task in board.tasks] == ["a", "b"]
    assert [row.tasks[task.pk].value for task in board.tasks] == [0.75, 0.5]
    assert row.mean.value == pytest.approx(0.625)
    # (0.75 - 0.5) / 0.5 = 1/2 and (0.5 - 0.25) / 0.75 = 1/3
    assert row.adjusted == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert board.chance == pytest.approx(0.375)


def test_a_domain_board_takes_tasks_of_every_family(suite) -> None:
    scored(suite, "model", 0.2, 0.9, 0.4)
    board = group(AggregateScope.DOMAIN, "thoracic")
    assert [task.name for task in board.tasks] == ["a", "c"]
    assert board.rows[0].mean.value == pytest.approx(0.3)


def test_the_suite_with_most_published_runs_comes_first_and_a_real_one_before_a_synthetic_one(suite) -> None:
    synthetic = make_suite("drawn", synthetic=True)
    assert [found.slug for found in live_suites()] == ["small", "drawn"]
    make_scored_run(suite=synthetic, hits={"task0": 0.5})
    assert [found.slug for found in live_suites()] == ["drawn", "small"]


def test_suites_count_their_tasks_by_group_and_those_that_await_data(suite) -> None:
    make_task(suite, position=3, name="d", family="text_to_text", is_installed=False, n_queries=None, chance=None)
    found = live_suites()[0]
    assert (found.n_tasks, found.n_installed, found.n_awaiting) == (4, 3, 1)
    assert found.families == {"image_to_label": 2, "text_to_text": 2}


@pytest.mark.parametrize("n_models", [1, 7])
def test_the_number_of_queries_does_not_grow_with_the_board(suite, n_models, django_assert_num_queries) -> None:
    for number in range(n_models):
        scored(suite, f"model{number}", 0.1 * number, 0.5, None if number % 2 else 0.5)
    scored(suite, "incomplete", 0.5, None, None)
    summary = live_suites()[0]
    store_statistics(suite)
    names = [(AggregateScope.OVERALL, ""), (AggregateScope.FAMILY, "image_to_label")]
    with django_assert_num_queries(2):
        stored_boards(summary, names)
    with django_assert_num_queries(1):
        stored_boards(summary, names)

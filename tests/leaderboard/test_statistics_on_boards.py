"""Boards with statistics: intervals of ranks, tie groups, every grouping, and what stands there without statistics."""

import csv
import io
from pathlib import Path

import pytest

from leaderboard.models import BoardSnapshot, BoardTable, EmbeddingModel, Run, Suite
from leaderboard.models.vocabulary import CHOICES_OF
from leaderboard.selectors.due_snapshots import suites_to_build
from leaderboard.services.publishing import run_withdraw
from tests.factories import make_measured_run, make_revision
from tests.leaderboard.pages import blocked_by_policy, tables, wrongly_nested
from tests.measured_suites import install, measured
from workers.snapshots import build_snapshot


@pytest.fixture
def suite(db: None, settings: object, tmp_path: Path) -> Suite:
    return install(settings, tmp_path)


@pytest.fixture
def runs(suite: Suite) -> list[Run]:
    """Two models that cannot be told apart, one far below them, and one with two of three tasks."""
    found = [
        make_measured_run(suite, measured(0.9, 0.9, 0.9), revision=make_revision("lab/best")),
        make_measured_run(suite, measured(0.9, 0.9, 0.88, seed=1), revision=make_revision("lab/level")),
        make_measured_run(suite, measured(0.1, 0.1, 0.1, seed=2), revision=make_revision("lab/last")),
    ]
    partial = {name: ranks for name, ranks in measured(0.5, 0.5, 0.5, seed=3).items() if name != "Pair"}
    found.append(make_measured_run(suite, partial, revision=make_revision("lab/partial")))
    build_snapshot(suite.pk)
    return found


def get(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def ranks(html: str) -> list[tuple[str, str]]:
    rows = [row for row in tables(html)[0][1:] if len(row) > 1]
    return [(row[0], row[1].partition("|")[0].strip()) for row in rows if not row[1].startswith("Chance")]


def test_the_front_page_shows_intervals_of_ranks_and_joins_what_cannot_be_told_apart(client, runs) -> None:
    html = get(client, "/")
    assert ranks(html) == [("1–2", "best"), ("1–2", "level"), ("3", "last"), ("–", "partial")]
    assert html.count('class="rank tie-a"') == 2
    assert 'class="rank"' in html
    assert "1 other model cannot be told apart from it" in get(client, "/boards/domain/thoracic/")
    assert "the two cannot be told apart, so either may be the better one" in html
    assert "are being computed" not in html
    assert "2 of 3 tasks: 1 task cut short" in html


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("/boards/family/text_to_text/", ["best", "level", "last", "partial"]),
        ("/boards/domain/thoracic/", ["best", "level", "last", "partial"]),
        ("/boards/split/held_out/", ["best", "level", "partial", "last"]),
        ("/boards/split/in_distribution/", ["best", "level", "last", "partial"]),
        ("/boards/evidence-form/volume_3d/", ["best", "level", "partial", "last"]),
        ("/boards/pairing-type/text_text/", ["best", "level", "last", "partial"]),
        ("/boards/granularity/global_label/", ["best", "level", "last", "partial"]),
        ("/boards/release-group/ood/", ["best", "level", "partial", "last"]),
        ("/boards/release-group/all_ood/", ["best", "level", "last", "partial"]),
    ],
)
def test_every_grouping_has_a_board(client, runs, address, expected) -> None:
    html = get(client, address)
    assert sorted(name for _, name in ranks(html)) == sorted(expected)
    assert [name for _, name in ranks(html)][2:] == expected[2:]
    assert 'aria-current="page"' in html
    assert blocked_by_policy(html) == wrongly_nested(html) == []


@pytest.mark.parametrize(
    "address",
    ["/boards/colour/red/", "/boards/split/volume_3d/", "/boards/overall/overall/", "/boards/evidence_form/text/"],
)
def test_a_grouping_that_does_not_exist_is_not_found(client, runs, address) -> None:
    assert client.get(address).status_code == 404


def test_the_csv_has_rank_its_interval_tie_group_value_and_its_interval(client, runs) -> None:
    lines = list(csv.DictReader(io.StringIO(get(client, "/?format=csv"))))
    columns = ("model", "rank", "rank_lower_95", "rank_upper_95", "tie_group")
    assert [tuple(line[name] for name in columns) for line in lines] == [
        ("lab/best", "1", "1", "2", "1"),
        ("lab/level", "2", "1", "2", "1"),
        ("lab/last", "3", "3", "3", "3"),
        ("lab/partial", "", "", "", ""),
        ("chance", "", "", "", ""),
    ]
    assert float(lines[2]["mean_hit_at_1_percent"]) == pytest.approx(10)
    assert 0 < float(lines[2]["mean_lower_95"]) < 10 < float(lines[2]["mean_upper_95"]) < 20


def test_a_new_result_is_announced_and_comes_with_the_next_statistics(client, suite, runs) -> None:
    make_measured_run(suite, measured(1.0, 1.0, 1.0), revision=make_revision("lab/newest"))
    for address in ("/", "/boards/family/text_to_text/"):
        html = get(client, address)
        assert "1 result is being added." in html
        assert ranks(html)[0] == ("1–2", "best")
    build_snapshot(suite.pk)
    html = get(client, "/")
    assert "being added" not in html
    assert ranks(html)[0] == ("1", "newest")


def test_a_run_that_is_withdrawn_or_whose_owner_objects_is_gone_at_once(client, suite, runs) -> None:
    assert "lab/best" in get(client, "/")
    run_withdraw(run_id=runs[0].pk, actor="test", reason="a test")
    html = get(client, "/")
    assert [name for _, name in ranks(html)] == ["level", "last", "partial"]
    assert "Being computed anew." in html
    EmbeddingModel.objects.filter(repo_id="lab/level").update(owner_opted_out=True)
    for address in ("/", "/boards/family/text_to_text/", "/?format=json", "/?best=domain:thoracic"):
        html = get(client, address)
        assert "lab/level" not in html
        assert "lab/best" not in html


def test_a_snapshot_without_boards_of_the_present_layout_is_made_again(suite, runs) -> None:
    assert suites_to_build() == []
    BoardTable.objects.update(layout="of older code")
    assert suites_to_build() == [suite.pk]
    assert build_snapshot(suite.pk)
    assert suites_to_build() == []


def test_boards_without_tables_yet_say_that_results_are_being_added(client, suite, runs) -> None:
    BoardTable.objects.update(layout="of older code", content={"rows": "in another way"})
    for address in ("/", "/boards/family/text_to_text/"):
        assert "Results are being added." in get(client, address)


def test_a_task_measured_on_other_data_is_a_reason(client, suite, runs) -> None:
    runs[2].task_runs.filter(task__name="Pair").update(data_sha256="f" * 64)
    BoardSnapshot.objects.all().delete()
    build_snapshot(suite.pk)
    html = get(client, "/")
    assert ("–", "last") in ranks(html)
    assert "2 of 3 tasks: 1 task measured on other data than most models" in html


BOARDS = ["/", "/?best=domain:thoracic&size=1000000000"] + [
    f"/boards/{scope.value.replace('_', '-')}/{choice}/" for scope, choices in CHOICES_OF.items() for choice in choices
]


def test_every_board_costs_five_queries_once_and_one_from_then_on(
    client, runs, django_assert_max_num_queries, django_assert_num_queries
) -> None:
    for address in BOARDS:
        with django_assert_max_num_queries(5):
            get(client, address)
        with django_assert_num_queries(1):
            get(client, address)
        with django_assert_max_num_queries(4):
            get(client, address + ("&" if "?" in address else "?") + "licence=mit")


def test_columns_of_many_tasks_are_left_out(client, suite, runs, monkeypatch) -> None:
    assert "sort=-task-Pair" in get(client, "/boards/release-group/all_ood/")
    for module in ("selectors.board_making", "views.board_sheet"):
        monkeypatch.setattr(f"leaderboard.{module}.MOST_TASK_COLUMNS", 2)
    BoardSnapshot.objects.all().delete()
    build_snapshot(suite.pk)
    html = get(client, "/boards/release-group/all_ood/")
    assert "sort=-task-Pair" not in html
    assert 'href="/tasks/example/Pair/"' in html
    assert ranks(html)[0] == ("1–2", "best")

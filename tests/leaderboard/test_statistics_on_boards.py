"""Boards with statistics: intervals of ranks, tie groups, every grouping, and what stands there without statistics."""

import csv
import io
from pathlib import Path

import pytest

from leaderboard.models import BoardSnapshot, Run, Suite
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
    assert "1 other model cannot be told apart from it" in html
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


def test_while_statistics_are_old_ranks_are_by_value_with_a_note(client, suite, runs) -> None:
    make_measured_run(suite, measured(1.0, 1.0, 1.0), revision=make_revision("lab/newest"))
    for address in ("/", "/boards/family/text_to_text/"):
        html = get(client, address)
        assert "Intervals of ranks are being computed." in html
        assert "1–2" not in html
        assert ranks(html)[0] == ("1", "newest")
    build_snapshot(suite.pk)
    assert "are being computed" not in get(client, "/")


def test_a_task_measured_on_other_data_is_a_reason(client, suite, runs) -> None:
    runs[2].task_runs.filter(task__name="Pair").update(data_sha256="f" * 64)
    BoardSnapshot.objects.all().delete()
    build_snapshot(suite.pk)
    html = get(client, "/")
    assert ("–", "last") in ranks(html)
    assert "2 of 3 tasks: 1 task measured on other data than most models" in html


def test_statistics_cost_one_query_and_a_second_one_the_first_time(client, runs, django_assert_num_queries) -> None:
    with django_assert_num_queries(7):
        client.get("/")
    with django_assert_num_queries(6):
        client.get("/")
    with django_assert_num_queries(6):
        client.get("/boards/split/held_out/")


def test_columns_of_many_tasks_are_left_out(client, suite, runs, monkeypatch) -> None:
    assert "sort=-task-Pair" in get(client, "/boards/release-group/all_ood/")
    monkeypatch.setattr("leaderboard.views.board_sheet.MOST_TASK_COLUMNS", 2)
    html = get(client, "/boards/release-group/all_ood/")
    assert "sort=-task-Pair" not in html
    assert 'href="/tasks/example/Pair/"' in html

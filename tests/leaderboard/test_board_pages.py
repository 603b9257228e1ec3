"""Board pages: order, filters, downloads and addresses, read as a visitor's browser gets them."""

import csv
import io

import pytest

from leaderboard.models import Suite
from tests.board_documents import store_statistics
from tests.factories import make_revision, make_scored_run, make_suite, make_task
from tests.leaderboard.pages import tables

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite() -> Suite:
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    make_task(suite, position=0, name="a", title="Task a", family="image_to_label", domain="thoracic")
    make_task(suite, position=1, name="b", title="Task b", family="text_to_text", domain="thoracic", chance=0.1)
    return suite


@pytest.fixture
def board(suite: Suite) -> Suite:
    """Three complete rows and one that cannot read images."""

    def add(repo_id: str, a: float | None, b: float, **facts) -> None:
        hits = {"b": b} if a is None else {"a": a, "b": b}
        failures = {"a": "input_unsupported"} if a is None else {}
        make_scored_run(suite=suite, hits=hits, failures=failures, revision=make_revision(repo_id, **facts))

    add("alpha/large", 0.81, 0.62, parameters=8_100_000_000, licence="apache-2.0", family="qwen3_vl")
    add("beta/small", 0.41, 0.72, parameters=150_000_000, licence="mit", family="clip")
    add("gamma/unknown", 0.21, 0.32, parameters=None, licence="", family="siglip", dimension=None)
    add("delta/text", None, 0.91, parameters=22_700_000, licence="mit", family="sentence_transformers")
    store_statistics(suite)
    return suite


def names(html: str) -> list[str]:
    """First lines of the row heads of the board, without the groups' titles and chance."""
    found = [row[1].split(" | ")[0].split("|")[0].strip() for row in tables(html)[0][1:] if len(row) > 1]
    return [name for name in found if name != "Chance"]


def get(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_the_front_page_lists_ranked_rows_then_incomplete_ones_with_the_reason(client, board) -> None:
    html = get(client, "/")
    assert names(html) == ["large", "small", "unknown", "text"]
    assert "1 of 2 tasks: 1 task of a kind that the model cannot read" in html
    rows = tables(html)[0]
    assert [row[0] for row in rows[1:] if len(row) > 1] == ["1", "2", "3", "–", "–"]
    assert rows[1][2].startswith("71.5")  # (0.81 + 0.62) / 2
    assert "Hit@1 of 71.5 (70.5 to 72.5) on 2 tasks" in html
    assert "<b>text</b> leads with 91.0" in get(client, "/boards/family/text_to_text/")


def test_columns_sort_in_both_directions_with_unknown_values_last(client, board) -> None:
    assert names(get(client, "/?sort=-text_to_text"))[:3] == ["small", "large", "unknown"]
    assert names(get(client, "/?sort=text_to_text"))[:3] == ["unknown", "large", "small"]
    assert names(get(client, "/?sort=parameters"))[:3] == ["small", "large", "unknown"]
    assert names(get(client, "/?sort=-parameters"))[:3] == ["large", "small", "unknown"]
    assert names(get(client, "/?sort=-model"))[:3] == ["unknown", "small", "large"]


def test_every_header_is_a_link_that_sorts_and_says_so(client, board) -> None:
    html = get(client, "/")
    for key in ("rank", "model", "mean", "cv", "image_to_label", "modality_bridging", "parameters", "licence"):
        assert f"sort={key}" in html or f"sort=-{key}" in html
        assert 'aria-sort="' in get(client, f"/?sort=-{key}")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("q=SMALL", ["small"]),
        ("q=beta", ["small"]),
        ("kind=siglip", ["unknown"]),
        ("licence=mit", ["small", "text"]),
        ("max_parameters=1000000000", ["small", "text"]),
        ("max_parameters=100000000&licence=mit", ["text"]),
    ],
)
def test_filters_leave_rows_out_and_ranks_alone(client, board, query, expected) -> None:
    html = get(client, f"/?{query}")
    assert names(html) == expected
    ranks = dict(zip(names(html), [row[0] for row in tables(html)[0][1:] if len(row) > 1], strict=False))
    assert ranks.get("small", "2") == "2"


def test_links_keep_the_rest_of_the_state(client, board) -> None:
    html = get(client, "/?suite=small&licence=mit&sort=-mean")
    assert "?suite=small&amp;licence=mit&amp;sort=mean" in html
    assert "?suite=small&amp;licence=mit&amp;sort=-mean&amp;format=csv" in html
    assert '<input type="hidden" name="sort" value="-mean">' in html


def test_a_filter_that_nothing_passes_says_what_to_do(client, board) -> None:
    html = get(client, "/?q=nosuchmodel")
    assert "No model matches" in html
    assert 'href="/?suite=small"' in html


@pytest.mark.parametrize("address", ["/?sort=nosuchcolumn", "/?max_parameters=many", "/?max_parameters=-1", "/?q=%00"])
def test_a_wrong_address_is_refused_not_ignored(client, board, address) -> None:
    assert client.get(address).status_code == 400


@pytest.mark.parametrize(
    "address",
    ["/?suite=nosuch", "/boards/family/nosuch/", "/boards/domain/image_to_label/"],
)
def test_what_is_not_there_is_not_found(client, board, address) -> None:
    assert client.get(address).status_code == 404


@pytest.mark.parametrize(
    "address",
    [
        "/?sort=-text_to_text",
        "/?sort=licence&licence=mit",
        "/boards/family/text_to_text/?sort=-task-b",
        "/boards/domain/thoracic/",
    ],
)
def test_the_csv_file_has_the_rows_order_and_figures_of_the_page(client, board, address) -> None:
    html = get(client, address)
    response = client.get(address + ("&" if "?" in address else "?") + "format=csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].startswith('attachment; filename="medboard-small-1-')
    lines = list(csv.DictReader(io.StringIO(response.content.decode())))
    shown = [row for row in tables(html)[0][1:] if len(row) > 1]
    assert [line["model"].rpartition("/")[2].lower() for line in lines] == [
        row[1].split("|")[0].strip().lower() for row in shown
    ]
    for line, row in zip(lines, shown, strict=True):
        assert (line["rank"] or "–") == row[0]
        mean = line["mean_hit_at_1_percent"]
        if mean:
            assert f"{float(mean):.1f}" == row[2].split("|")[0].strip()
        else:
            assert row[2] == f"{line['tasks']} of {line['tasks_expected']}"


def test_a_csv_cell_that_a_spreadsheet_would_run_is_made_harmless(client, suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.5, "b": 0.5}, revision=make_revision("=cmd/x", licence="@SUM(A1)"))
    store_statistics(suite)
    (line, _) = csv.DictReader(io.StringIO(client.get("/?format=csv").content.decode()))
    assert line["model"] == "'=cmd/x"
    assert line["licence"] == "'@SUM(A1)"
    assert line["mean_hit_at_1_percent"] == "50.0"


def test_a_family_board_has_a_column_a_task_and_links_to_it(client, board) -> None:
    html = get(client, "/boards/family/text_to_text/")
    assert "Task b" in tables(html)[0][0]
    assert 'href="/tasks/small/b/"' in html
    assert names(html) == ["text", "small", "large", "unknown"]


def test_empty_states_say_what_to_do(client, db) -> None:
    assert "No suite is installed yet" in get(client, "/")
    assert "No suite is installed yet" in get(client, "/boards/family/text_to_text/")
    make_suite("small", n_tasks=1)
    assert "Nothing is published yet" in get(client, "/")
    assert "This suite has no task here" in get(client, "/boards/family/text_to_text/")


def test_a_synthetic_suite_is_marked_and_a_real_one_is_not(client, board) -> None:
    drawn = make_suite("drawn", synthetic=True)
    make_scored_run(suite=drawn, hits={task.name: 0.5 for task in drawn.tasks.all()})
    store_statistics(drawn)
    assert "Synthetic data." in get(client, "/?suite=drawn")
    assert "Synthetic data." in get(client, "/boards/domain/abdominal/?suite=drawn")
    assert "Synthetic data." not in get(client, "/?suite=small")

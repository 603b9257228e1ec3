"""Training data on boards: daggers, clean means and ranks, the filter, files, the API, and when boards are made anew."""

import csv
import io
import json
import re

import pyarrow.parquet
import pytest
from django.test import Client

from leaderboard.models import BoardSnapshot, EmbeddingModel, Submission, Suite
from leaderboard.models.vocabulary import AggregateScope, TrainingVerdict
from leaderboard.selectors.board_rows import Board
from leaderboard.selectors.board_tables import stored_boards
from leaderboard.selectors.catalogue import live_suites
from leaderboard.selectors.due_snapshots import suites_to_build, suites_to_mark
from leaderboard.services.snapshots import snapshot_mark_anew
from leaderboard.services.training_data import training_data_mark_lift
from leaderboard.views.training_cells import SPOKEN
from tests.board_documents import store_statistics
from tests.factories import (
    declare_training_data,
    make_revision,
    make_scored_run,
    make_task,
    make_user,
    mark_training_data,
)
from tests.leaderboard.pages import blocked_by_policy, by_model, tables, wrongly_nested
from workers.snapshots import build_snapshot

pytestmark = pytest.mark.django_db

HITS = {
    # Tasks a and b are of one family, c of another. By hand: the mean of the two family means ...
    "one": (0.9, 0.5, 0.6),  # (0.7 + 0.6) / 2 = 0.65; without a: (0.5 + 0.6) / 2 = 0.55
    "two": (0.6, 0.6, 0.58),  # 0.59
    "three": (0.4, 0.7, 0.6),  # (0.55 + 0.6) / 2 = 0.575
    "four": (0.3, 0.2, 0.9),  # (0.25 + 0.9) / 2 = 0.575; without c one family has nothing left
    "five": (0.5, 0.5, 0.6),  # 0.55
}
DAGGER = f"†{SPOKEN}"


def mark(name: str, dataset: str, verdict: TrainingVerdict = TrainingVerdict.TRAINED) -> int:
    model = EmbeddingModel.objects.get(repo_id=f"lab/{name}")
    return mark_training_data(model.pk, dataset, verdict)


@pytest.fixture
def suite() -> Suite:
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    facts = {
        "a": ("image_to_label", "PathMNIST"),
        "b": ("image_to_label", "made_up"),
        "c": ("text_to_text", "BloodMNIST"),
    }
    for position, (name, (family, source)) in enumerate(facts.items()):
        task = make_task(suite, position=position, name=name, title=f"Task {name}", family=family, domain="thoracic")
        task.datasets = [source]
        task.save()
    for name, hits in HITS.items():
        make_scored_run(suite=suite, hits=dict(zip("abc", hits, strict=True)), revision=make_revision(f"lab/{name}"))
    make_scored_run(suite=suite, hits={"a": 0.95}, failures={"b": "embedding_invalid", "c": "embedding_invalid"},
                    revision=make_revision("lab/part"))  # fmt: skip
    declare_training_data(suite.runs.get(revision__model__repo_id="lab/four"), "BloodMNIST")
    declare_training_data(suite.runs.get(revision__model__repo_id="lab/two"), statement="none")
    for name in ("one", "part"):
        mark(name, "PathMNIST")
    store_statistics(suite)
    return suite


def board(scope: AggregateScope = AggregateScope.OVERALL, key: str = "") -> Board:
    return stored_boards(live_suites()[0], [(scope, key)])[scope, key].board


def page(client: Client, address: str) -> list[list[str]]:
    response = client.get(address)
    assert response.status_code == 200, address
    html = response.content.decode()
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    return tables(html)[0]


def file_rows(client: Client, address: str) -> dict[str, dict[str, object]]:
    rows = json.loads(client.get(f"{address}&format=json").content)
    lines = list(csv.DictReader(io.StringIO(client.get(f"{address}&format=csv").content.decode())))
    stored = pyarrow.parquet.read_table(io.BytesIO(client.get(f"{address}&format=parquet").content))
    assert stored.column_names == list(lines[0]) == list(rows[0])
    assert stored.to_pylist() == rows
    assert [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows] == lines
    return {str(row["model"]).rpartition("/")[2]: row for row in rows}


def test_boards_hold_clean_means_and_ranks(suite: Suite) -> None:
    rows = {row.model.name: row for row in board().rows}
    assert {name: row.contaminated for name, row in rows.items()} == {
        "one": ("a",), "two": (), "three": (), "four": ("c",), "five": (), "part": ("a",),
    }  # fmt: skip
    clean = {name: row.clean and row.clean.value for name, row in rows.items()}
    assert clean.pop("four") is None
    assert clean.pop("part") is None
    assert clean == pytest.approx({"one": 0.55, "two": 0.59, "three": 0.575, "five": 0.55})
    assert {name: row.clean_rank for name, row in rows.items()} == {
        "two": 1, "three": 2, "one": 3, "five": 3, "four": None, "part": None,
    }  # fmt: skip
    assert rows["one"].clean_groups["image_to_label"].value == pytest.approx(0.5)
    assert set(rows["one"].clean_groups) == {"image_to_label", "thoracic", "image_2d", "in_distribution"}
    assert {name: row.training_data for name, row in rows.items() if row.training_data != "unknown"} == {
        "four": "listed",
        "two": "none",
    }


def test_the_board_of_a_group_is_ranked_by_its_own_clean_tasks(suite: Suite) -> None:
    # By hand, tasks a and b: one 0.5 without a, two 0.6, three 0.55, four 0.25 (c is not here), five 0.5.
    rows = {row.model.name: row for row in board(AggregateScope.FAMILY, "image_to_label").rows}
    assert {name: row.clean_rank for name, row in rows.items()} == {
        "two": 1, "three": 2, "one": 3, "five": 3, "four": 5, "part": None,
    }  # fmt: skip
    assert rows["one"].clean.value == pytest.approx(0.5)
    four = next(row for row in board(AggregateScope.FAMILY, "text_to_text").rows if row.model.name == "four")
    assert (four.rank, four.clean.value, four.clean_rank) == (1, None, None)


def test_cells_of_contaminated_tasks_have_a_dagger(client: Client, suite: Suite) -> None:
    rows = by_model(page(client, "/?columns=rank&columns=mean&columns=image_to_label&columns=text_to_text"))
    assert rows["one"]["Image to label"] == f"70.0 {DAGGER}"
    assert DAGGER in rows["one"]["Mean of families"]
    assert rows["one"]["Text to text"] == "60.0"
    assert rows["four"]["Text to text"] == f"90.0 {DAGGER}"
    assert rows["part"]["Image to label"] == f"1/2 {DAGGER}"
    assert not any(DAGGER in cell for cell in rows["two"].values())
    rows = by_model(page(client, "/boards/family/image_to_label/"))
    assert (rows["one"]["Task a"], rows["one"]["Task b"]) == (f"90.0 {DAGGER}", "50.0")
    assert rows["one"]["Trained on"] == "1 task"
    assert (rows["two"]["Trained on"], rows["three"]["Trained on"]) == ("none", "unknown")
    assert "who says so" in client.get("/").content.decode()
    assert 'id="training-data"' in client.get("/methods/").content.decode()


def test_without_training_data_ranks_and_means_are_the_clean_ones(client: Client, suite: Suite) -> None:
    rows = by_model(page(client, "/?ranks=clean"))
    assert list(rows) == ["two", "three", "five", "one", "four", "part", "Chance"]
    assert [rows[name]["Clean rank"] for name in ("two", "three", "five", "one", "four")] == ["1", "2", "3", "3", "–"]
    assert rows["one"]["Clean mean of families"] == "55.0 |2 of 3"
    assert rows["two"]["Clean mean of families"] == "59.0"
    assert rows["one"]["Image to label"] == f"50.0 {DAGGER}"
    assert rows["four"]["Text to text"] == f"– {DAGGER}"
    assert "1 task that the model was trained on" in rows["four"]["Model"]
    html = client.get("/?ranks=clean").content.decode()
    assert "Ranked without training data." in html
    assert '<option value="clean" selected>' in html
    assert 'href="?ranks=clean&amp;sort=-mean"' in html, "other orders stay without training data"
    assert "no task is left that the model was not trained on" in html


def test_the_switch_is_in_the_form_and_odd_ones_are_refused(client: Client, suite: Suite) -> None:
    assert '<select name="ranks"' in client.get("/").content.decode()
    assert client.get("/?ranks=dirty").status_code == 400
    assert client.get("/?declared=perhaps").status_code == 400
    for address in ("/?ranks=clean&columns=cv&sort=-cv", "/boards/family/text_to_text/?ranks=clean&columns=adjusted"):
        assert client.get(address).status_code == 200, "columns without a value then can still be asked for"


def test_files_have_what_is_shown(client: Client, suite: Suite) -> None:
    rows = file_rows(client, "/?ranks=clean")
    assert (rows["one"]["clean_rank"], rows["one"]["clean_mean_hit_at_1_percent"]) == (3, 55.0)
    assert (rows["one"]["clean_mean_tasks"], rows["one"]["clean_image_to_label_hit_at_1_percent"]) == (2, 50.0)
    assert (rows["one"]["trained_on_tasks"], rows["one"]["trained_on_task_names"]) == (1, "a")
    assert (rows["four"]["clean_rank"], rows["four"]["training_data_declared"]) == (None, "listed")
    assert rows["three"]["trained_on_tasks"] is None, "nobody has said"
    rows = file_rows(client, "/?sort=rank")
    assert (rows["one"]["rank"], rows["one"]["mean_hit_at_1_percent"]) == (1, 65.0)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [("listed", ["four"]), ("none", ["two"]), ("unknown", ["one", "three", "five", "part"])],
)
def test_boards_are_filtered_by_what_was_declared(client: Client, suite: Suite, declared: str, expected: list) -> None:
    assert [name for name in by_model(page(client, f"/?declared={declared}")) if name != "Chance"] == expected


def test_the_api_says_it_too(client: Client, suite: Suite) -> None:
    answer = client.get("/api/v1/boards/small/overall")
    rows = {item["model"]["repo_id"]: item for item in answer.json()["items"]}
    one, four = rows["lab/one"], rows["lab/four"]
    assert (one["contaminated_tasks"], one["clean_mean"], one["clean_rank"]) == (["a"], pytest.approx(0.55), 3)
    assert (four["contaminated_tasks"], four["clean_mean"], four["clean_rank"]) == (["c"], None, None)


@pytest.mark.parametrize("address", ["/", "/?ranks=clean", "/boards/family/image_to_label/?ranks=clean&declared=none"])
def test_a_board_takes_five_questions_at_most(
    client: Client, suite: Suite, address: str, django_assert_max_num_queries
) -> None:
    with django_assert_max_num_queries(5):
        client.get(address)


def test_a_finding_makes_boards_anew_without_new_statistics(
    client: Client, suite: Suite, django_capture_on_commit_callbacks, monkeypatch
) -> None:
    rung = []
    monkeypatch.setattr("leaderboard.queue.ring_snapshot", rung.append)
    before = client.get("/")
    snapshot = BoardSnapshot.objects.get(is_current=True)
    assert suites_to_mark() == []
    found = mark("three", "BloodMNIST")
    assert rung == [suite.pk]
    assert (suites_to_build(), suites_to_mark()) == ([], [suite.pk])
    assert build_snapshot(suite.pk)
    assert (suites_to_build(), suites_to_mark()) == ([], [])
    renewed = BoardSnapshot.objects.get(is_current=True)
    assert renewed.pk != snapshot.pk
    assert (renewed.built_at, renewed.content) == (snapshot.built_at, snapshot.content)
    after = client.get("/", headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    assert after["ETag"] != before["ETag"]
    assert DAGGER in by_model(tables(after.content.decode())[0])["three"]["Text to text"]
    training_data_mark_lift(mark_id=found, actor=make_user(is_staff=True))
    assert build_snapshot(suite.pk)
    assert not build_snapshot(suite.pk), "there is nothing more to do"
    assert client.get("/", headers={"If-None-Match": before["ETag"]}).status_code == 304, "the page is as it was"


def test_a_finding_that_a_model_was_not_trained_overrules_what_was_declared(suite: Suite) -> None:
    mark("four", "BloodMNIST", TrainingVerdict.NOT_TRAINED)
    snapshot_mark_anew(suite_id=suite.pk)
    four = next(row for row in board().rows if row.model.name == "four")
    # Its mean is 0.575 again, which it shares with three.
    assert (four.contaminated, four.clean_rank, four.training_data) == ((), 2, "listed")


def test_a_declaration_that_begins_to_count_makes_boards_due(suite: Suite) -> None:
    run = suite.runs.get(revision__model__repo_id="lab/five")
    declare_training_data(run, "PathMNIST")
    Submission.objects.filter(pk=run.submission_id).update(is_private=True)
    assert suites_to_mark() == []
    Submission.objects.filter(pk=run.submission_id).update(is_private=False)
    assert suites_to_mark() == [suite.pk]


def test_the_finder_answers_without_training_data_where_the_board_is_ranked_so(client: Client, suite: Suite) -> None:
    def answer(query: str) -> str:
        html = client.get(f"/{query}").content.decode().partition('<p class="answer"')[2]
        return " ".join(re.sub("<[^>]*>", "", html.partition(">")[2].partition("</p>")[0]).split())

    assert answer("").startswith("one: Hit@1 of 65.0 (64.0 to 66.0) on 3 tasks, 6.0 points above the next, two; ")
    # By hand: two 0.59 and three 0.575 without training data, which leaves both all of their tasks.
    assert answer("?ranks=clean") == (
        "two: Hit@1 of 59.0 on 3 tasks, 1.5 points above the next, three. Tasks that a model was trained on are left"
        " out, without intervals. All 4 that fit"
    )
    html = client.get("/?ranks=clean").content.decode()
    assert "ranks=clean" in html.partition('<p class="answer"')[2].partition("</p>")[0].rpartition("href=")[2]

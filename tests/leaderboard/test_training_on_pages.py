"""Training data on the pages of models and tasks and in comparisons: daggers, legends and files."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from django.test import Client

from evaluation.vocabulary import Family, PairingType, Split
from leaderboard.models import BoardSnapshot, EmbeddingModel, Run, Suite
from leaderboard.models.vocabulary import TrainingVerdict
from leaderboard.views.probe_pages import ANALYSIS_TITLES
from leaderboard.views.training_cells import SPOKEN
from tests.evaluation.suite_folders import suite_of, task_spec
from tests.factories import declare_training_data, make_cell, make_measured_run, make_revision, mark_training_data
from tests.leaderboard.pages import blocked_by_policy, by_model, tables, wrongly_nested
from tests.measured_suites import install, measured
from tests.probe_documents import make_probing_suite, publish, store_board
from workers.snapshots import build_snapshot

pytestmark = pytest.mark.django_db

SPEC = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL, pairing_type=PairingType.IMAGE_TEXT),
    task_spec("Other", family=Family.IMAGE_TO_LABEL, split=Split.HELD_OUT),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
)
SOURCES = {"Label": "PathMNIST", "Pair": "BloodMNIST"}
SHARES = {"lab/trained": (0.9, 0.5, 0.7), "lab/clean": (0.2, 0.8, 0.5), "lab/found": (0.4, 0.4, 0.2)}
# By hand: lab/trained was trained on Label (declared), lab/found on Pair (found), lab/clean on neither.
FILMS, RETINA = "Chexpert_plus", "APTOS-2019"
DAGGER = f"†{SPOKEN}"
LEGEND = "†: the model was trained on data that the figure rests on"


def mark(name: str, dataset: str, verdict: TrainingVerdict = TrainingVerdict.TRAINED) -> None:
    mark_training_data(EmbeddingModel.objects.get(repo_id=name).pk, dataset, verdict)


@pytest.fixture
def runs(db: None, settings: object, tmp_path: Path) -> dict[str, Run]:
    suite = install(settings, tmp_path, SPEC)
    for name, dataset in SOURCES.items():
        suite.tasks.filter(name=name).update(datasets=[dataset])
    runs = {
        name: make_measured_run(suite, measured(*shares, seed=seed, spec=SPEC), revision=make_revision(name))
        for seed, (name, shares) in enumerate(SHARES.items())
    }
    declare_training_data(runs["lab/trained"], "PathMNIST")
    mark("lab/found", "BloodMNIST")
    build_snapshot(suite.pk)
    return runs


@pytest.fixture
def probing() -> Suite:
    suite = make_probing_suite()
    for position, (name, facts) in enumerate(
        {"L5.hedged": {"subtype": "hedged"}, "L4.report": {"style": "report"}}.items()
    ):
        level = name.partition(".")[0]
        make_cell(suite, position=20 + position, name=f"chest_radiograph.{name}", level=level, **facts)
    suite.tasks.filter(modality="chest_radiograph").update(datasets=["chexpert", FILMS])
    suite.tasks.filter(modality="fundus").update(datasets=["aptos2019", RETINA])
    suite.tasks.filter(kind="closed_questions").update(datasets=[FILMS])
    return suite


@pytest.fixture
def probed(probing: Suite) -> dict[str, Run]:
    """Reader was trained on the chest films (declared), firm on the retina's images (found), specialist on neither."""
    runs = {name: publish(probing, name) for name in ("lab/reader", "lab/specialist", "lab/firm")}
    declare_training_data(runs["lab/reader"], FILMS)
    mark("lab/firm", RETINA)
    store_board(probing, runs)
    return runs


def get(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    html = response.content.decode()
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    return html


def table_of(html: str, head: str) -> list[dict[str, str]]:
    """The rows of the table that begins with this title of a column."""
    title, *rows = next(table for table in tables(html) if table[0][0] == head)
    return [dict(zip(title, row, strict=True)) for row in rows if len(row) == len(title)]


def with_dagger(rows: list[dict[str, str]], head: str) -> dict[str, list[str]]:
    """The columns with a dagger by the words that a row begins with, those of small print left out."""
    return {
        row[head].partition("|")[0].strip(): [title for title, text in row.items() if text.endswith(DAGGER)]
        for row in rows
    }


def file_rows(client: Client, address: str) -> list[dict[str, object]]:
    """The rows of a table as a file of either kind, which say the same."""
    separator = "&" if "?" in address else "?"
    rows = json.loads(get_file(client, f"{address}{separator}format=json"))
    lines = list(csv.DictReader(io.StringIO(get_file(client, f"{address}{separator}format=csv"))))
    assert [{name: in_csv(value) for name, value in row.items()} for row in rows] == lines
    return rows


def get_file(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def in_csv(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


def comparison(runs: dict[str, Run]) -> str:
    run, *others = runs.values()
    return f"/compare/?suite={run.suite.slug}&run={run.pk}" + "".join(f"&run={one.pk}" for one in others)


# --- the page of a model


def test_a_models_page_marks_the_tasks_that_it_was_trained_on(client: Client, runs: dict[str, Run]) -> None:
    html = get(client, "/models/lab/trained/")
    assert with_dagger(table_of(html, "Task"), "Task") == {"Label": ["Hit@1"], "Other": [], "Pair": []}
    assert LEGEND in html
    assert 'href="/methods/#training-data"' in html
    assert 'title="trained on data of this task' in html
    clean = get(client, "/models/lab/clean/")
    assert DAGGER not in str(tables(clean))
    assert LEGEND not in clean
    assert with_dagger(table_of(get(client, "/models/lab/found/"), "Task"), "Task")["Pair"] == ["Hit@1"]


def test_a_models_file_says_which_tasks_it_was_trained_on(client: Client, runs: dict[str, Run]) -> None:
    rows = file_rows(client, "/models/lab/trained/")
    assert {row["task"]: row["known_trained_on_task"] for row in rows} == {
        "Label": True, "Other": False, "Pair": False,
    }  # fmt: skip


def test_a_task_without_a_score_has_nothing_to_mark(client: Client, runs: dict[str, Run]) -> None:
    runs["lab/trained"].task_runs.filter(task__name="Label").update(
        state="failed", error_code="model_invalid", error_kind="model", error_message="It has no weights."
    )
    assert with_dagger(table_of(get(client, "/models/lab/trained/"), "Task"), "Task")["Label"] == []
    (row,) = [row for row in file_rows(client, "/models/lab/trained/") if row["task"] == "Label"]
    assert row["known_trained_on_task"] is None


@pytest.mark.parametrize(
    ("head", "table", "expected"),
    [
        ("Family", "family", {"Image to label": ["Hit@1"], "Text to text": []}),
        ("Split", "split", {"In-distribution": ["Hit@1"], "Held-out source": []}),
        ("Pairing type", "pairing_type", {"Image–text": ["Hit@1"], "Text–text": []}),
    ],
)
def test_means_of_groups_that_hold_such_a_task_are_marked(
    client: Client, runs: dict[str, Run], head: str, table: str, expected: dict[str, list[str]]
) -> None:
    html = get(client, "/models/lab/trained/")
    assert with_dagger(table_of(html, head), head) == expected
    assert 'title="trained on data of 1 task of it"' in html
    rows = file_rows(client, f"/models/lab/trained/?table={table}")
    assert sorted(row["known_trained_on_tasks"] for row in rows) == [0, 1]


# --- the page of a task


def test_a_tasks_page_marks_the_models_that_were_trained_on_it(client: Client, runs: dict[str, Run]) -> None:
    html = get(client, "/tasks/example/Label/")
    rows = by_model(tables(html)[0])
    assert {name: row["Hit@1"] for name, row in rows.items() if name != "Chance"} == {
        "trained": f"90.0 {DAGGER}", "found": "40.0", "clean": "20.0",
    }  # fmt: skip
    assert DAGGER not in str(rows["Chance"])
    assert LEGEND in html
    notice = html.partition("Trained on data of this task:")[2].partition("</p>")[0]
    assert "lab/trained" in notice
    assert "lab/found" not in notice
    other = get(client, "/tasks/example/Other/")
    assert DAGGER not in str(tables(other))
    assert LEGEND not in other
    assert "Trained on data of this task:" not in other


def test_a_tasks_file_says_which_models_were_trained_on_it(client: Client, runs: dict[str, Run]) -> None:
    rows = file_rows(client, "/tasks/example/Label/")
    assert {row["model"]: row["known_trained_on_task"] for row in rows} == {
        "lab/trained": True, "lab/found": False, "lab/clean": False, "chance": None,
    }  # fmt: skip


# --- comparisons


def test_a_comparison_marks_tasks_and_families_of_each_model(client: Client, runs: dict[str, Run]) -> None:
    html = get(client, comparison(runs))
    assert with_dagger(table_of(html, "Task"), "Task") == {"Label": ["trained"], "Other": [], "Pair": ["found"]}
    assert with_dagger(table_of(html, "Where"), "Where") == {
        "Mean of families": ["trained", "found"], "Image to label": ["trained"], "Text to text": ["found"],
    }  # fmt: skip
    assert html.count(LEGEND) == 2, "one a table"
    clean = {name: runs[name] for name in ("lab/clean", "lab/trained")}
    mark("lab/trained", "PathMNIST", TrainingVerdict.NOT_TRAINED)
    build_snapshot(runs["lab/clean"].suite_id)
    html = get(client, comparison(clean))
    assert DAGGER not in str(tables(html))
    assert LEGEND not in html


def test_the_files_of_a_comparison_say_it_of_each_model(client: Client, runs: dict[str, Run]) -> None:
    rows = {row["task"]: row for row in file_rows(client, f"{comparison(runs)}&table=tasks")}
    found = {
        name: [rows[task][f"{name}_known_trained_on_task"] for task in ("Label", "Other", "Pair")] for name in runs
    }
    assert found == {
        "lab/trained": [True, False, False], "lab/clean": [False] * 3, "lab/found": [False, False, True],
    }  # fmt: skip
    families = {row["group"]: row for row in file_rows(client, f"{comparison(runs)}&table=families")}
    found = {
        name: [families[key][f"{name}_known_trained_on_tasks"] for key in ("overall", "image_to_label")]
        for name in runs
    }
    assert found == {"lab/trained": [1, 1], "lab/clean": [0, 0], "lab/found": [1, 0]}


def test_a_comparison_of_models_without_a_row_on_the_board_has_no_marks_of_groups(
    client: Client, runs: dict[str, Run]
) -> None:
    BoardSnapshot.objects.get(is_current=True).tables.all().delete()
    html = get(client, comparison(runs))
    assert with_dagger(table_of(html, "Where"), "Where")["Image to label"] == []
    assert with_dagger(table_of(html, "Task"), "Task")["Label"] == ["trained"]


def test_a_comparison_takes_as_many_questions_whatever_was_declared(
    client: Client, runs: dict[str, Run], django_assert_num_queries
) -> None:
    get(client, comparison(runs))
    for _ in range(2):
        with django_assert_num_queries(13):
            client.get(comparison(runs))
        for name in ("lab/clean", "lab/found"):
            mark(name, "PathMNIST")


# --- findings


@pytest.mark.parametrize("address", ["/models/lab/trained/", "/tasks/example/Label/"])
def test_a_finding_that_a_model_was_not_trained_takes_the_dagger_away(
    client: Client, runs: dict[str, Run], address: str
) -> None:
    assert DAGGER in str(tables(get(client, address)))
    mark("lab/trained", "PathMNIST", TrainingVerdict.NOT_TRAINED)
    html = get(client, address)
    assert DAGGER not in str(tables(html))
    assert LEGEND not in html
    assert not any(row["known_trained_on_task"] for row in file_rows(client, address))


# --- pages of probing suites


def test_a_probing_models_page_marks_levels_and_where_it_stops(client: Client, probed: dict[str, Run]) -> None:
    html = get(client, "/models/lab/firm/")
    places = with_dagger(table_of(html, "Modality"), "Modality")
    levels = ["L1 Domain", "L2 Modality", "L3 Region", "L4 Finding", "L5 Negation"]
    assert [places["Chest radiograph"], places["Fundus"][0]] == [[], "Stops at"]
    assert [title[:2] for title in places["Fundus"][1:]] == [title[:2] for title in levels]
    assert LEGEND in html
    clean = get(client, "/models/lab/specialist/")
    assert DAGGER not in str(tables(clean))
    assert LEGEND not in clean


def test_a_probing_models_page_marks_kinds_of_negation_and_styles(client: Client, probed: dict[str, Run]) -> None:
    negation, styles = [table for table in tables(get(client, "/models/lab/reader/")) if table[0][0] == "Modality"][1:3]
    assert [text.endswith(DAGGER) for text in negation[1]] == [False, True, True, False]
    assert [text.endswith(DAGGER) for text in styles[1]] == [False, True, True, False]


def test_a_probing_models_files_say_it_of_each_cell(client: Client, probed: dict[str, Run]) -> None:
    rows = {row["modality"]: row for row in file_rows(client, "/models/lab/firm/")}
    assert rows["fundus"]["L4_known_trained_on_task"] is True
    assert rows["chest_radiograph"]["L4_known_trained_on_task"] is False
    for table, header in (("negation", "hedged"), ("styles", "report")):
        (row,) = file_rows(client, f"/models/lab/reader/?table={table}")
        assert row[f"{header}_known_trained_on_task"] is True


def test_a_cells_page_marks_the_models_that_saw_its_images(client: Client, probed: dict[str, Run]) -> None:
    html = get(client, "/tasks/medtec-test/fundus.L4/")
    rows = by_model(tables(html)[0])
    assert {name: [title for title in row if row[title].endswith(DAGGER)] for name, row in rows.items()} == {
        "firm": ["DS"], "reader": [], "specialist": [],
    }  # fmt: skip
    assert LEGEND in html
    assert "lab/firm" in html.partition("Trained on data of this task:")[2].partition("</p>")[0]
    rows = file_rows(client, "/tasks/medtec-test/fundus.L4/")
    assert {row["model"]: row["known_trained_on_task"] for row in rows} == {
        "lab/firm": True, "lab/reader": False, "lab/specialist": False,
    }  # fmt: skip


def test_the_page_of_questions_marks_them_too(client: Client, probed: dict[str, Run]) -> None:
    for run in probed.values():
        task_run = run.task_runs.get(task__kind="closed_questions")
        task_run.scores.create(metric="balanced_accuracy", value=0.5, is_main=True)
    address = "/tasks/medtec-test/vqa_rad.closed_questions/"
    rows = by_model(tables(get(client, address))[0])
    assert {name: row["Balanced accuracy"] for name, row in rows.items()} == {
        "firm": "50.0", "reader": f"50.0 {DAGGER}", "specialist": "50.0",
    }  # fmt: skip
    found = {row["model"]: row["known_trained_on_task"] for row in file_rows(client, address)}
    assert found == {"lab/firm": False, "lab/reader": True, "lab/specialist": False}


def test_a_comparison_of_probing_models_marks_cells_and_means(client: Client, probed: dict[str, Run]) -> None:
    html = get(client, comparison(probed))
    cells = with_dagger(table_of(html, "Cell"), "Cell")
    assert {name.partition(",")[0]: found for name, found in cells.items()} == {
        "Chest radiograph": ["reader"], "Fundus": ["firm"],
    }  # fmt: skip
    assert len(cells) == 10
    assert with_dagger(table_of(html, "Modality"), "Modality") == {"Chest radiograph": ["reader"], "Fundus": ["firm"]}
    assert html.count(LEGEND) == 2
    rows = file_rows(client, f"{comparison(probed)}&table=cells")
    assert {row["modality"] for row in rows if row["lab/reader_known_trained_on_task"]} == {"chest_radiograph"}
    rows = {row["modality"]: row for row in file_rows(client, f"{comparison(probed)}&table=modalities")}
    assert [rows["fundus"][f"{name}_known_trained_on_tasks"] for name in probed] == [0, 0, 5]


@pytest.mark.parametrize("address", ["/models/lab/firm/", "/tasks/medtec-test/fundus.L4/", "/compare/"])
def test_a_finding_takes_the_daggers_of_probing_pages_away(
    client: Client, probed: dict[str, Run], address: str
) -> None:
    if address == "/compare/":
        address = comparison({name: probed[name] for name in ("lab/firm", "lab/specialist")})
    assert DAGGER in str(tables(get(client, address)))
    mark("lab/firm", RETINA, TrainingVerdict.NOT_TRAINED)
    html = get(client, address)
    assert DAGGER not in str(tables(html))
    assert LEGEND not in html


@pytest.mark.parametrize(
    ("address", "expected"), [("/models/lab/firm/", 15), ("/tasks/medtec-test/fundus.L4/", 8), ("/compare/", 12)]
)
def test_probing_pages_take_as_many_questions_whatever_was_found(
    client: Client, probed: dict[str, Run], django_assert_num_queries, address: str, expected: int
) -> None:
    address = comparison(probed) if address == "/compare/" else address
    get(client, address)
    for _ in range(2):
        with django_assert_num_queries(expected):
            client.get(address)
        for name in probed:
            mark(name, FILMS)


# --- analyses, whose figures are not marked one by one

NOTE = "Trained on data of this suite:"


def named(html: str) -> list[tuple[str, str]]:
    """The models that the note names, each with its number of tasks."""
    note = html.partition(NOTE)[2].partition(". What this page says")[0]
    return re.findall(r">([^<]+)</a> \((\d+ tasks?)\)", note)


def test_analyses_name_the_models_that_were_trained_on_data_of_the_suite(client: Client, runs: dict[str, Run]) -> None:
    assert named(get(client, "/analyses/?suite=example")) == [("lab/found", "1 task"), ("lab/trained", "1 task")]
    mark("lab/found", "BloodMNIST", TrainingVerdict.NOT_TRAINED)
    mark("lab/trained", "BloodMNIST")
    assert named(get(client, "/analyses/?suite=example")) == [("lab/trained", "2 tasks")]
    for dataset in SOURCES.values():
        mark("lab/trained", dataset, TrainingVerdict.NOT_TRAINED)
    assert NOTE not in get(client, "/analyses/?suite=example")


def test_analyses_of_a_probing_suite_name_them_too(client: Client, probed: dict[str, Run]) -> None:
    """By hand: the films are behind five levels, two further cells and the questions, the retina behind five levels."""
    names = [("lab/firm", "5 tasks"), ("lab/reader", "8 tasks")]
    pages = [get(client, f"/boards/medtec/analysis/{name}/") for name in ANALYSIS_TITLES]
    assert any("<table" in html for html in pages)
    assert all(named(html) == names for html in pages if "<table" in html)
    assert all(NOTE not in html for html in pages if "<table" not in html)

"""Model, task, analyses and comparison pages with statistics, and that the command line prints the same numbers."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.suites.medheb.board import ANALYSES as LIBRARY_ANALYSES
from evaluation.suites.medheb.comparison import compare_models
from evaluation.suites.medheb.difficulty import CUTS, Bucket
from evaluation.vocabulary import EvidenceForm, Family, Split
from leaderboard.models import BoardSnapshot, Run, Suite
from leaderboard.views.analysis_words import ANALYSES, BUCKETS
from tests.evaluation.outcomes import outcomes_of
from tests.evaluation.result_files import write_result_of
from tests.evaluation.suite_folders import suite_of, task_spec
from tests.factories import make_measured_run, make_revision
from tests.leaderboard.pages import blocked_by_policy, tables, wrongly_nested
from tests.measured_suites import QUERIES, install, measured
from workers.snapshots import build_snapshot

SPEC = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL, evidence_form=EvidenceForm.IMAGE_2D),
    task_spec("OtherLabel", family=Family.IMAGE_TO_LABEL, split=Split.HELD_OUT),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
    task_spec("Region", family=Family.REGION_GROUNDING),
    task_spec("Bridge", family=Family.MODALITY_BRIDGING),
)
OUTCOMES = {
    "google/medsiglip-448": measured(0.4, 0.2, 0.8, 0.05, 0.01, spec=SPEC),
    "lab/strong": measured(0.9, 0.8, 0.8, 0.5, 0.3, seed=1, spec=SPEC),
    "lab/partial": {
        name: ranks for name, ranks in measured(0.5, 0.5, 0.5, 0.5, 0.5, spec=SPEC).items() if name != "Pair"
    },
}


@pytest.fixture
def suite(db: None, settings: object, tmp_path: Path) -> Suite:
    return install(settings, tmp_path, SPEC)


@pytest.fixture
def runs(suite: Suite) -> dict[str, Run]:
    found = {
        name: make_measured_run(suite, outcomes, revision=make_revision(name)) for name, outcomes in OUTCOMES.items()
    }
    build_snapshot(suite.pk)
    return found


def get(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_words_are_of_the_analyses_and_buckets_that_exist() -> None:
    assert list(ANALYSES) == list(LIBRARY_ANALYSES)
    assert list(BUCKETS) == [bucket.value for bucket in Bucket]
    assert [words.end for words in BUCKETS.values()] == [*CUTS, 1.0]
    assert [words.start for words in BUCKETS.values()] == [0.0, *CUTS]


def test_the_site_and_the_command_line_have_the_same_numbers(suite, runs, tmp_path) -> None:
    """The board of stored runs equals that of result files of the same outcomes, but for the models' names."""
    files = [
        write_result_of(tmp_path / f"{number}.json", SPEC, outcomes, model=name)
        for number, (name, outcomes) in enumerate(OUTCOMES.items())
    ]
    arguments = ["analyse", *map(str, files), "--suite", str(tmp_path / SPEC.slug), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exception is None
    printed = json.loads(result.stdout)
    stored = BoardSnapshot.objects.get(suite=suite, is_current=True).content
    of_run = {str(run.pk): name for name, run in runs.items()}
    of_file = {key: name for key in printed["models"] for name in OUTCOMES if name in key or key in name}
    assert len(set(of_file.values())) == len(OUTCOMES)
    assert _numbers(stored, of_run) == _numbers(printed, of_file)
    assert [stored[name] for name in ("suite_sha256", "resamples", "seed")] == [
        printed[name] for name in ("suite_sha256", "resamples", "seed")
    ]
    # a deviation over models is summed in the order of their keys, which moves the last bit
    for one, other in zip(stored["buckets"], printed["buckets"], strict=True):
        assert one["tasks"] == other["tasks"]
        assert {**one, "tasks": 0} == pytest.approx({**other, "tasks": 0})


def _numbers(document: dict, names: dict[str, str]) -> dict:
    found: dict = {"baselines": [names[key] for key in document["baselines"]]}
    for group in document["groups"]:
        for standing in group["standings"]:
            found[group["scope"], group["key"], names[standing["model"]]] = standing | {"model": ""}
    for analysis in document["analyses"]:
        found[analysis["analysis"], names[analysis["model"]]] = analysis | {"model": ""}
    return found


def test_a_model_page_has_rank_intervals_difficulty_every_grouping_and_analyses(client, runs) -> None:
    html = get(client, "/models/lab/strong/")
    assert "Rank 1 of 2" in html
    found = {table[0][0]: table for table in tables(html)}
    assert [row[0] for row in found["Split"][1:]] == ["In-distribution", "Held-out source"]
    assert {"Family", "Domain", "Evidence form", "Pairing type", "Granularity", "Group of the release"} <= set(found)
    assert found["Family"][1][3] == "1"
    difficulty = {row[0].partition("|")[0]: row[9] for row in found["Task"][1:]}
    assert difficulty == {
        "Label": "Tractable", "OtherLabel": "Medium", "Pair": "Tractable", "Region": "Weak", "Bridge": "Collapse",
    }  # fmt: skip
    analyses = {row[0].partition("|")[0].strip(): row[1] for row in found["Analysis"][1:]}
    # established (0.85 + 0.8) / 2 = 0.825; new relations (0.5 + 0.3) / 2 = 0.4
    assert analyses["Drop to new relations"] == "+42.5"
    assert analyses["Drop to bridging"] == "+52.5"
    # own (0.9 + 0.8 + 0.5 + 0.3) / 4 = 0.625 minus 0.8; in the family of both splits 0.9 minus 0.8
    assert analyses["Held-out gap"] == "-17.5"
    assert analyses["Gap, same families"] == "+10.0"
    assert analyses["Points from ties"] == "0.0"
    assert float(analyses["CV"]) == pytest.approx(np.std([0.85, 0.8, 0.5, 0.3]) / 0.6125, abs=0.005)
    assert blocked_by_policy(html) == wrongly_nested(html) == []


def test_an_incomplete_model_has_no_analyses_but_ranks_where_it_has_every_task(client, runs) -> None:
    html = get(client, "/models/lab/partial/")
    assert "Evenness and generalisation" not in html
    (families,) = [table for table in tables(html) if table[0][0] == "Family"]
    assert all(row[3] != "–" for row in families[1:])
    assert "Text to text" not in [row[0] for row in families[1:]]


def test_a_task_page_has_rank_intervals_chance_difficulty_and_what_ties_would_add(client, suite, runs) -> None:
    tied = outcomes_of([1] * QUERIES, tied=1)
    make_measured_run(suite, OUTCOMES["lab/strong"] | {"Pair": tied}, revision=make_revision("lab/tied"))
    build_snapshot(suite.pk)
    html = get(client, "/tasks/example/Pair/")
    rows = [row for row in tables(html)[0] if len(row) > 1]
    assert [row[1].partition("|")[0].strip() for row in rows[1:]] == ["medsiglip-448", "strong", "tied", "Chance"]
    assert [row[0] for row in rows[1:]] == ["1–2", "1–2", "3", "–"]
    # everything ties with one wrong candidate: half a hit where the release counts a whole one
    assert [row[7] for row in rows[1:]] == ["0", "0", "+50.0", "–"]
    assert "Tractable: the public baselines on this board reach 40% and more" in html
    assert html.count('class="rank tie-a"') == 2


def test_a_result_on_other_data_stands_apart_on_the_task_page(client, suite, runs) -> None:
    runs["lab/partial"].task_runs.filter(task__name="Label").update(data_sha256="f" * 64)
    BoardSnapshot.objects.all().delete()
    build_snapshot(suite.pk)
    html = get(client, "/tasks/example/Label/")
    rows = tables(html)[0]
    place = [row[0] for row in rows].index("Measured on other data than most models: not ranked with them")
    assert rows[place + 1][:2] == ["–", rows[place + 1][1]]
    assert rows[place + 1][1].startswith("partial")


def test_the_analyses_page_has_every_complete_model_and_the_buckets(client, suite, runs) -> None:
    html = get(client, "/analyses/?suite=example")
    models, buckets = tables(html)
    assert [row[0].partition("|")[0].strip() for row in models[1:]] == ["medsiglip-448", "strong"]
    assert models[2][2].startswith("+42.5 |")
    assert [(row[0], row[1], row[2]) for row in buckets[1:]] == [
        ("Collapse", "under 3%", "1"),
        ("Weak", "3% to under 10%", "1"),
        ("Medium", "10% to under 40%", "1"),
        ("Tractable", "40% and more", "2"),
    ]
    # three models with 3, 50 and 30 hits of 60 in the only weak task, Region
    assert float(buckets[2][4]) == pytest.approx(100 * np.std([0.05, 0.5, 0.5]), abs=0.05)
    assert "google/medsiglip-448" in html
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    lines = list(csv.DictReader(io.StringIO(get(client, "/analyses/?suite=example&format=csv"))))
    assert float(lines[1]["drop_both"]) == pytest.approx(42.5)


def test_pages_of_analyses_say_what_to_do_when_there_is_nothing(client, suite, db) -> None:
    assert "No statistics yet" in get(client, "/analyses/")
    assert "Nothing is published yet" in get(client, "/compare/")
    Suite.objects.update(is_live=False)
    assert "No suite is installed yet" in get(client, "/analyses/")
    assert "No suite is installed yet" in get(client, "/compare/")


def test_old_statistics_say_so(client, suite, runs) -> None:
    make_measured_run(suite, OUTCOMES["lab/strong"], revision=make_revision("lab/newest"))
    for address in ("/analyses/", "/models/lab/strong/"):
        assert "Being computed anew." in get(client, address)


def test_differences_are_paired_and_equal_those_of_the_command_line(client, runs) -> None:
    strong, weak = runs["lab/strong"], runs["google/medsiglip-448"]
    address = f"/compare/?suite=example&run={weak.pk}&run={strong.pk}"
    html = get(client, address)
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    (line, *_) = csv.DictReader(io.StringIO(get(client, f"{address}&format=csv")))
    (expected,) = [
        row.difference
        for row in compare_models(SPEC, OUTCOMES["lab/strong"], OUTCOMES["google/medsiglip-448"])
        if row.scope == "overall"
    ]
    found = [float(line[f"lab/strong_{part}"]) for part in ("difference", "lower_95", "upper_95")]
    assert found == pytest.approx(
        [100 * number for number in (expected.value, expected.lower, expected.upper)], abs=1e-3
    )
    turned = f"/compare/?suite=example&run={strong.pk}&run={weak.pk}&format=csv"
    (line, *_) = csv.DictReader(io.StringIO(get(client, turned)))
    found = [float(line[f"google/medsiglip-448_{part}"]) for part in ("difference", "upper_95", "lower_95")]
    assert found == pytest.approx(
        [-100 * number for number in (expected.value, expected.lower, expected.upper)], abs=1e-3
    )


def test_a_comparison_says_in_words_where_a_model_is_better_and_where_nothing_is_shown(client, runs) -> None:
    html = get(client, f"/compare/?run={runs['google/medsiglip-448'].pk}&run={runs['lab/strong'].pk}")
    assert "strong against medsiglip-448: shown to be better in Image to label, Region, Bridging; level" in html
    assert "in 1 of 4 families" in html
    partial = get(client, f"/compare/?run={runs['lab/strong'].pk}&run={runs['lab/partial'].pk}&run=")
    rows = {row[0]: row for row in tables(partial)[0][1:]}
    assert rows["Text to text"][2:] == ["–", "–"]
    assert rows["Mean of families"][3] == "–"


def test_the_comparison_draws_profiles_and_names_the_tasks_in_which_models_differ_most(client, runs) -> None:
    weak, strong, partial = (runs[name].pk for name in ("google/medsiglip-448", "lab/strong", "lab/partial"))
    address = f"/compare/?suite=example&run={weak}&run={strong}&run={partial}"
    html = get(client, address)
    assert html.count('<svg class="profile"') == 1
    assert "medsiglip-448: Image to label 30.0" in html
    # Text to text lacks a task in the third model, so its line leaves the family out
    assert "partial: Image to label 50.0 (" in html
    assert "Text to text not evaluated" in html
    tasks = tables(html)[1]
    # against the first: strong has 90, 80, 80, 50, 30 and partial 50 wherever it has a score; first 40, 20, 80, 5, 1
    assert [row[0] for row in tasks[1:]] == ["OtherLabel", "Label", "Bridge", "Region"]
    rows = {row[0]: row for row in tasks[1:]}
    assert rows["OtherLabel"][1:3] == ["20.0", "80.0"]
    assert rows["OtherLabel"][3].startswith("+60.0 |")
    assert rows["Bridge"][1] == "1.7", "one hit of sixty"
    lines = list(csv.DictReader(io.StringIO(get(client, f"{address}&format=csv&table=tasks"))))
    assert [line["task"] for line in lines] == list(rows)
    (expected,) = [
        row.difference
        for row in compare_models(SPEC, OUTCOMES["lab/strong"], OUTCOMES["google/medsiglip-448"])
        if (row.scope, row.key) == ("task", "OtherLabel")
    ]
    found = [float(lines[0][f"lab/strong_{part}"]) for part in ("difference", "lower_95", "upper_95")]
    assert found == pytest.approx([100 * end for end in (expected.value, expected.lower, expected.upper)], abs=1e-3)


def test_what_to_compare_is_checked(client, runs) -> None:
    (first, *_) = runs.values()
    assert "Choose two to four models" in get(client, "/compare/")
    assert "Choose two to four models" in get(client, f"/compare/?run={first.pk}&run={first.pk}")
    for wrong in ("no-uuid", "00000000-0000-0000-0000-000000000000", "<script>"):
        response = client.get("/compare/", {"run": [wrong, str(first.pk)]})
        assert response.status_code == 400
        assert "<script>alert" not in response.content.decode()


def test_five_models_are_too_many(client, suite, runs) -> None:
    more = [make_measured_run(suite, OUTCOMES["lab/strong"]) for _ in range(2)]
    response = client.get("/compare/", {"run": [str(run.pk) for run in [*runs.values(), *more]]})
    assert response.status_code == 400
    assert "Choose at most 4 models." in response.content.decode()


def test_pages_cost_few_queries(client, runs, django_assert_max_num_queries) -> None:
    address = "/compare/?" + "&".join(f"run={run.pk}" for run in runs.values())
    for page in ("/analyses/", "/tasks/example/Label/", "/models/lab/strong/", address):
        get(client, page)
    for page, most in (("/analyses/", 9), ("/tasks/example/Label/", 9), (address, 12), ("/models/lab/strong/", 15)):
        with django_assert_max_num_queries(most):
            client.get(page)


def test_hostile_names_are_shown_as_texts(client, suite, runs) -> None:
    hostile = make_measured_run(suite, OUTCOMES["lab/strong"], revision=make_revision("lab/<script>alert(1)</script>"))
    build_snapshot(suite.pk)
    for address in (
        "/",
        "/analyses/",
        f"/compare/?run={hostile.pk}&run={runs['lab/strong'].pk}",
        "/tasks/example/Pair/",
    ):
        html = get(client, address)
        assert "<script>alert" not in html
        assert "&lt;script&gt;" in html

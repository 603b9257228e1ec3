"""Model pages: what was measured, what failed and why, and how to measure it again."""

import csv
import io

import pytest
from django.urls import reverse

from leaderboard.models import ModelRevision, Run, Suite
from leaderboard.models.vocabulary import RunState
from tests.board_documents import store_statistics
from tests.factories import make_published_run, make_revision, make_run, make_scored_run, make_suite, make_task
from tests.leaderboard.pages import tables

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert("x")</script>'


@pytest.fixture
def suite() -> Suite:
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    make_task(suite, position=0, name="a", title="Task a", family="image_to_label", domain="thoracic", chance=0.5)
    make_task(suite, position=1, name="b", title="Task b", family="text_to_text", domain="neuro", pool="global")
    return suite


def page(client, repo_id: str, query: str = "") -> str:
    response = client.get(f"/models/{repo_id}/{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_it_shows_facts_rank_means_and_the_score_of_each_task(client, suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.9, "b": 0.9}, revision=make_revision("lab/better"))
    make_scored_run(suite=suite, hits={"a": 0.75, "b": 0.5}, revision=make_revision("lab/model", parameters=2_000_000))
    store_statistics(suite)
    html = page(client, "lab/model")
    assert "Rank 2 of 2" in html
    assert "62.5 Hit@1 (61.5 to 63.5)" in html
    assert "2.0 M" in html
    families, domains, _analyses, tasks, _history = tables(html)
    assert [row[0] for row in families[1:]] == ["Image to label", "Text to text"]
    assert [row[0] for row in domains[1:]] == ["Neuro", "Thoracic"]
    # (0.75 - 0.5) / 0.5 is half of the way from chance to perfect
    assert tasks[1] == [
        "Task a|a", "Image to label", "Thoracic", "75.0", "73.0 to 77.0", "50.0", "50.0", "4", "Local", "", "",
    ]  # fmt: skip
    assert tasks[2][8] == "Global"


def test_failed_tasks_stand_apart_with_their_reason(client, suite) -> None:
    make_scored_run(
        suite=suite, hits={"b": 0.5}, failures={"a": "input_unsupported"}, revision=make_revision("lab/text")
    )
    store_statistics(suite)
    html = page(client, "lab/text")
    assert "listed without a rank: 1 of 2 tasks were evaluated" in html
    tasks = tables(html)[2]
    assert [row[0] for row in tasks[1:]] == [
        "Task b|b",
        "No score",
        "Task a|a|a cannot be evaluated with this model. (input_unsupported)",
    ]


def test_a_score_that_depends_on_the_order_of_equal_ones_shows_both_bounds(client, suite) -> None:
    run = make_scored_run(suite=suite, hits={"a": 0.5, "b": 0.5}, revision=make_revision("lab/model"))
    run.task_runs.filter(task__name="a").update(hit_at_1_pessimistic=0.1, hit_at_1_optimistic=0.9)
    run.task_runs.filter(task__name="b").update(hit_at_1_pessimistic=0.498, hit_at_1_optimistic=0.502)
    tasks = tables(page(client, "lab/model"))[2]
    assert [row[-1] for row in tasks[1:]] == ["10.0 to 90.0", ""]
    store_statistics(suite)
    family = client.get("/boards/family/image_to_label/").content.decode()
    assert tables(family)[0][1][4] == "50.0 ties"


def test_tasks_sort_and_download_as_shown(client, suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.3, "b": 0.6}, revision=make_revision("lab/model"))
    assert [row[0] for row in tables(page(client, "lab/model", "?sort=-hit"))[2][1:]] == ["Task b|b", "Task a|a"]
    response = client.get("/models/lab/model/?sort=-hit&format=csv")
    lines = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [(line["task"], line["hit_at_1_percent"]) for line in lines] == [("b", "60.0"), ("a", "30.0")]


def test_provenance_and_the_commands_that_repeat_the_run(client, suite) -> None:
    revision = make_revision("lab/model")
    revision.adapter_repo_id, revision.adapter_commit = "lab/it's-an-adapter", "b" * 40
    revision.save()
    run = make_scored_run(suite=suite, hits={"a": 0.3, "b": 0.6}, revision=revision)
    run.model_description = {"encode_config": {"pooling": "last token"}}
    run.environment = {"device": "cpu", "threads": 2, "packages": {"torch": "2.13.0", "numpy": "2.4.1"}}
    run.code_version = "0.1.0+abc"
    run.save()
    html = page(client, "lab/model")
    assert f"hf download lab/model --revision {revision.commit} --local-dir model" in html
    assert f"--revision {'b' * 40} --local-dir adapter" in html
    assert "&#x27;lab/it&#x27;&quot;&#x27;&quot;&#x27;s-an-adapter&#x27;" in html
    assert f"--revision {revision.commit} --adapter adapter --suite small --out result.json" in html
    assert "last token" in html
    assert "<dt>Libraries</dt><dd>numpy 2.4.1, torch 2.13.0</dd>" in html
    assert "<dt>Device</dt><dd>cpu</dd>" in html
    assert "<dt>Python</dt><dd>not recorded</dd>" in html
    assert "0.1.0+abc" in html
    assert run.task_runs.first().data_sha256 in html


def test_history_lists_every_run_and_marks_the_published_one(client, suite) -> None:
    revision = make_revision("lab/model")
    make_scored_run(suite=suite, hits={"a": 0.3, "b": 0.6}, revision=revision)
    make_run(suite=suite, revision=revision, state=RunState.FAILED, attempt=2)
    history = tables(page(client, "lab/model"))[-1]
    assert history[1][0] == f"Commit {revision.commit}, the kind's default encode config"
    assert [(row[1], row[2], row[5]) for row in history[2:]] == [
        ("2", "Failed", "–"),
        ("1", "Succeeded", "On the boards"),
    ]


def test_runs_stand_under_their_revision(client, suite) -> None:
    first = make_revision("lab/model")
    make_run(suite=suite, revision=first, state=RunState.FAILED)
    second = ModelRevision.objects.create(
        model=first.model,
        commit="c" * 40,
        adapter_repo_id="lab/adapter",
        adapter_commit="d" * 40,
        encode_config_sha256="e" * 64,
    )
    make_run(suite=suite, revision=second, state=RunState.CANCELLED)
    history = tables(page(client, "lab/model"))[-1]
    assert [row[0] for row in history[1:]] == [
        f"Commit {'c' * 40}, adapter lab/adapter at {'d' * 40}, encode config {'e' * 12}",
        "A small suite 1",
        f"Commit {first.commit}, the kind's default encode config",
        "A small suite 1|A file is missing.",
    ]


def test_a_result_is_chosen_by_suite_and_revision_and_a_real_suite_comes_first(client, suite) -> None:
    revision = make_revision("lab/model")
    make_scored_run(suite=suite, hits={"a": 0.3, "b": 0.6}, revision=revision)
    drawn = make_suite("drawn", n_tasks=1, synthetic=True)
    make_published_run(suite=drawn, revision=revision, hit=0.9)
    assert "Synthetic data." not in page(client, "lab/model")
    assert "Synthetic data." in page(client, "lab/model", "?suite=drawn")
    assert "No published result here" in page(client, "lab/model", "?suite=other")
    assert client.get("/models/lab/model/?revision=x").status_code == 400


def test_a_model_without_a_published_run_shows_where_its_runs_stand(client, suite) -> None:
    make_run(suite=suite, revision=make_revision("lab/new"), state=RunState.FAILED)
    html = page(client, "lab/new")
    assert "No published result here" in html
    assert "A file is missing." in html


def test_the_name_in_another_case_leads_to_the_page(client, suite) -> None:
    make_run(suite=suite, revision=make_revision("Lab/Model"))
    response = client.get("/models/lab/model/")
    assert (response.status_code, response["Location"]) == (302, "/models/Lab/Model/")


@pytest.mark.parametrize("address", ["/models/no/such/", "/models/hidden/model/"])
def test_unknown_and_opted_out_models_are_not_found(client, db, address) -> None:
    make_revision("hidden/model", owner_opted_out=True)
    assert client.get(address).status_code == 404


def test_hostile_texts_are_shown_as_texts(client, suite) -> None:
    revision = make_revision(f"lab/{HOSTILE}", licence=HOSTILE, architecture=HOSTILE, family=HOSTILE[:32])
    run = make_scored_run(suite=suite, hits={"b": 0.5}, failures={"a": "model_invalid"}, revision=revision)
    run.task_runs.filter(task__name="a").update(error_message=HOSTILE)
    run.environment = {HOSTILE: HOSTILE}
    run.save()
    store_statistics(suite)
    for address in (reverse("model-detail", args=[f"lab/{HOSTILE}"]), "/", "/tasks/small/b/"):
        html = client.get(address).content.decode()
        assert "<script>alert" not in html
        assert "&lt;script&gt;" in html


def test_the_page_costs_as_many_queries_for_any_number_of_runs(client, suite, django_assert_num_queries) -> None:
    revision = make_revision("lab/model")
    make_scored_run(suite=suite, hits={"a": 0.3, "b": 0.6}, revision=revision)
    for attempt in range(2, 6):
        make_run(suite=suite, revision=revision, state=RunState.CANCELLED, attempt=attempt)
    for number in range(4):
        make_scored_run(suite=suite, hits={"a": 0.3, "b": 0.6}, revision=make_revision(f"lab/other-{number}"))
    store_statistics(suite)
    with django_assert_num_queries(14):
        client.get("/models/lab/model/")
    with django_assert_num_queries(12):  # a process has read the board and the statistics by then
        client.get("/models/lab/model/")


def test_a_result_that_no_board_has_yet_says_so_and_a_board_that_is_behind_too(client, suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.75, "b": 0.5}, revision=make_revision("lab/model"))
    html = page(client, "lab/model")
    assert ": 62.5 Hit@1 as the mean of the family means. A worker is computing its place" in html
    assert "Rank" not in html.partition("</p>")[0]
    assert "Statistics of" not in html
    store_statistics(suite)
    assert "Rank 1 of 1" in page(client, "lab/model")
    assert "Being computed anew." not in page(client, "lab/model")
    make_scored_run(suite=suite, hits={"a": 0.9, "b": 0.9}, revision=make_revision("lab/new"))
    html = page(client, "lab/model")
    assert "Rank 1 of 1" in html
    assert "Being computed anew." in html
    assert "A worker is computing its place" in page(client, "lab/new")


def test_a_model_that_was_withdrawn_is_not_counted_at_once(client, suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.75, "b": 0.5}, revision=make_revision("lab/model"))
    other = make_scored_run(suite=suite, hits={"a": 0.5, "b": 0.5}, revision=make_revision("lab/other"))
    store_statistics(suite)
    assert "Rank 1 of 2" in page(client, "lab/model")
    Run.objects.filter(pk=other.pk).update(is_published=False)
    assert "Rank 1 of 1" in page(client, "lab/model")

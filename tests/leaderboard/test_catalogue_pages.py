"""The list of tasks, task pages and the methods page."""

import csv
import io
import re
from pathlib import Path

import pytest
from django.template.loader import get_template

from evaluation.errors import EvaluationError
from evaluation.statistics import bootstrap
from evaluation.suites import pairing
from evaluation.suites.medheb.baselines import baseline_names
from evaluation.suites.medheb.reported import reported_figures as library_reported
from evaluation.suites.medtec import probe_vocabulary
from evaluation.types import MAX_EXAMPLES
from evaluation.vocabulary import EmbedderFamily
from leaderboard.models import Suite
from leaderboard.models.vocabulary import Family, TaskRunState
from leaderboard.selectors.board_rows import OTHER_DATA, TRAINED_ON
from leaderboard.views import methods
from leaderboard.views.figures import KIND_TITLES, REASONS
from leaderboard.views.questions import FAMILY_QUESTIONS
from tests.factories import make_revision, make_scored_run, make_suite, make_task
from tests.leaderboard.pages import tables
from workers.probe_snapshots import COMPARED_PROBED_MODELS
from workers.snapshots import COMPARED_MODELS, LARGEST_TASKS

pytestmark = pytest.mark.django_db


@pytest.fixture
def suite() -> Suite:
    suite = Suite.objects.create(slug="small", version="1", title="A small suite", synthetic=False)
    make_task(suite, position=0, name="a", title="Task a", family="image_to_label", domain="thoracic", n_queries=100)
    make_task(
        suite, position=1, name="b", title="Task b", family="text_to_text", domain="neuro",
        is_installed=False, n_queries=None, chance=None,
    )  # fmt: skip
    return suite


def get(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_the_list_has_every_task_with_its_best_score_and_those_that_await_data(client, suite) -> None:
    make_scored_run(suite=suite, hits={"a": 0.3})
    make_scored_run(suite=suite, hits={"a": 0.6})
    make_scored_run(suite=suite, hits={"a": 0.9}, revision=make_revision(owner_opted_out=True))
    html = get(client, "/tasks/")
    (table,) = tables(html)
    assert "2 tasks in the live suites; 1 of them awaits data" in " ".join(html.split())
    assert [table[1][0], table[1][7], table[1][9], table[1][10], table[1][12]] == [
        "Task a|a", "100", "2", "60.0", "Installed",
    ]  # fmt: skip
    assert [table[2][0], table[2][7], table[2][9], table[2][10], table[2][12]] == [
        "Task b|b", "–", "0", "–", "Awaiting data",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("suite=small", ["Task a|a", "Task b|b"]),
        ("family=text_to_text", ["Task b|b"]),
        ("domain=thoracic", ["Task a|a"]),
        ("is_installed=0", ["Task b|b"]),
        ("sort=-task", ["Task b|b", "Task a|a"]),
        ("sort=-queries", ["Task a|a", "Task b|b"]),
    ],
)
def test_the_list_is_filtered_and_sorted_by_its_address(client, suite, query, expected) -> None:
    assert [row[0] for row in tables(get(client, f"/tasks/?{query}"))[0][1:]] == expected
    lines = csv.DictReader(io.StringIO(get(client, f"/tasks/?{query}&format=csv")))
    assert [f"{line['title']}|{line['task']}" for line in lines] == expected


def test_a_filter_value_that_does_not_exist_is_refused(client, suite) -> None:
    assert client.get("/tasks/?family=nosuch").status_code == 400


def test_a_filter_that_nothing_passes_and_an_empty_board_say_what_to_do(client, suite) -> None:
    assert "No task matches" in get(client, "/tasks/?family=text_to_text&domain=thoracic")
    Suite.objects.update(is_live=False)
    assert "No suite is installed yet" in get(client, "/tasks/")


def test_a_task_page_says_what_is_asked_and_ranks_the_models_on_it(client, suite) -> None:
    for repo_id, hit in (("lab/one", 0.5), ("lab/two", 0.8), ("lab/three", 0.5)):
        make_scored_run(suite=suite, hits={"a": hit}, revision=make_revision(repo_id))
    html = get(client, "/tasks/small/a/")
    assert FAMILY_QUESTIONS[Family.IMAGE_TO_LABEL] in html
    assert "the label of the query image" in html
    assert [(row[0], row[1].partition("|")[0].strip(), row[2]) for row in tables(html)[0][1:4]] == [
        ("1", "two", "80.0"),
        ("2", "one", "50.0"),
        ("2", "three", "50.0"),
    ]


def test_a_task_without_data_says_so(client, suite) -> None:
    html = get(client, "/tasks/small/b/")
    assert "Awaiting data." in html
    assert "No score without data" in html


def test_an_installed_task_without_scores_says_so(client, suite) -> None:
    assert "No published score yet" in get(client, "/tasks/small/a/")


def test_tasks_of_a_synthetic_suite_are_marked(client, suite) -> None:
    make_suite("drawn", n_tasks=1, synthetic=True)
    assert "Synthetic data." in get(client, "/tasks/drawn/task0/")
    assert "Synthetic data." in get(client, "/tasks/")
    assert "Synthetic data." not in get(client, "/tasks/?suite=small")


@pytest.mark.parametrize("address", ["/tasks/small/nosuch/", "/tasks/nosuch/a/"])
def test_an_unknown_task_is_not_found(client, suite, address) -> None:
    assert client.get(address).status_code == 404


def test_a_task_name_with_a_slash_has_a_page(client, suite) -> None:
    make_task(suite, position=2, name="group/c d", title="Task c")
    assert 'href="/tasks/small/group/c%20d/"' in get(client, "/tasks/")
    assert "Task c" in get(client, "/tasks/small/group/c%20d/")


def test_pages_of_tasks_cost_few_queries(client, suite, django_assert_num_queries) -> None:
    for _ in range(3):
        make_scored_run(suite=suite, hits={"a": 0.3})
    with django_assert_num_queries(3):
        client.get("/tasks/")
    with django_assert_num_queries(9):
        client.get("/tasks/small/a/")


def test_the_methods_page_keeps_reported_figures_apart_and_names_our_choices(client) -> None:
    html = get(client, "/methods/")
    assert "Reported, not measured here" in html
    assert "0.5 points" in html
    assert "are <em>ours</em>" in html
    table, _ = tables(html)
    assert [row[2] for row in table[1:]] == [
        "46.1 percent", "0.34", "25.3 percent", "0.65", "15 / 24 / 45 / 23 tasks", "1.9 / 17.1 points",
        "7.7 / 26.6 points",
    ]  # fmt: skip
    assert len(table) - 1 == len(library_reported().figures)


def test_the_numbers_on_the_methods_page_are_those_of_the_code(client) -> None:
    assert (methods.RESAMPLES, methods.LEVEL) == (bootstrap.RESAMPLES, bootstrap.LEVEL)
    assert len(baseline_names()) == methods.BASELINES
    assert (methods.COMPARED_MODELS, methods.LARGEST_TASKS) == (COMPARED_MODELS, LARGEST_TASKS)
    assert methods.COMPARED_PROBED_MODELS == COMPARED_PROBED_MODELS
    assert {bootstrap.SEED, pairing.SEED} == {methods.SEED}
    assert methods.EXAMPLES == MAX_EXAMPLES
    assert (methods.POSITIVES, methods.MAX_NEGATIVES) == (probe_vocabulary.POSITIVES, probe_vocabulary.MAX_NEGATIVES)
    html = get(client, "/methods/")
    assert "10,000 resamples" in html
    assert "2.5% and 97.5% quantiles" in html
    assert "<em>weak</em> 3% to under 10%" in html


def test_the_methods_page_costs_no_query(client, django_assert_num_queries) -> None:
    with django_assert_num_queries(0):
        client.get("/methods/")


@pytest.mark.parametrize("template", ["methods.html", "probing/_methods.html"])
def test_the_methods_page_has_no_number_of_its_own(template: str) -> None:
    """Names such as Hit@1, float32 and 2D, and the ends 0 and 100 of the scale, are no choices of ours."""
    text = Path(get_template(template).origin.name).read_text(encoding="utf-8")
    plain = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|<[^>]*>", " ", text, flags=re.DOTALL)
    named = re.sub(r"Hit@1|float32|\b[23]D\b|0 is|100 is|than 0|100%|\(1 − chance\)|L[1-5]", " ", plain)
    assert re.findall(r"\d[\d.,]*%?", named) == []


def test_every_family_of_embedders_and_of_tasks_has_words() -> None:
    assert set(KIND_TITLES) == {family.value for family in EmbedderFamily}
    assert set(FAMILY_QUESTIONS) == set(Family)


def test_reasons_are_of_codes_that_exist() -> None:
    def codes(error: type[EvaluationError]) -> set[str]:
        return {error.code}.union(*(codes(child) for child in error.__subclasses__()))

    assert set(REASONS) - {"", OTHER_DATA, TRAINED_ON} <= codes(EvaluationError) | {
        state.value for state in TaskRunState
    }

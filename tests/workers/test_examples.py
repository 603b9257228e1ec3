"""Sample queries on a task's page: from what a model ranks first to texts and pictures, and what is never shown."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.evaluators.costs import EmbeddingCost
from evaluation.evaluators.retrieval import evaluate_task
from evaluation.results import task_result_to_json
from evaluation.suites.medheb.reader import load_task
from evaluation.types import RetrievalTask
from evaluation.vocabulary import Family, Parser, PoolScope
from leaderboard.models import Run, Suite, TaskExample
from leaderboard.selectors.examples import Place, text_may_be_shown
from leaderboard.services import leases, results
from tests.evaluation.suite_folders import suite_of, task_spec, text_record, write_image, write_records
from tests.factories import make_revision, make_run
from tests.leaderboard.pages import blocked_by_policy, wrongly_nested
from tests.measured_suites import install
from workers.ingest import aggregates_of_run, outcome_from_message
from workers.snapshots import build_snapshot

QUERIES = 9
LONG = "a long text " * 500
PICTURES = {"family": Family.TEXT_TO_IMAGE, "parser": Parser.IMAGE_T2I, "pool": PoolScope.GLOBAL}
SPEC = suite_of(
    task_spec("Words", pool=PoolScope.GLOBAL, image_root=""),
    task_spec("Pictures", data_path="2D_Task/Pictures.json", **PICTURES),
    task_spec("Hidden", data_path="2D_Task/Hidden.json", images_may_be_shown=False, **PICTURES),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three tasks on disk; query i asks for the answer, or the picture, of number i."""
    folder = tmp_path_factory.mktemp("examples") / SPEC.slug
    words = [text_record(f"question <b>{number}</b>", [f"answer {number}"]) for number in range(QUERIES)]
    words[0]["qry_text"] = LONG
    write_records(folder, SPEC.tasks[0], words)
    for spec in SPEC.tasks[1:]:
        records = [
            {"qry_inst": "Find it.", "qry_text": f"picture {number}", "tgt_img_path": [f"{number}.png"]}
            for number in range(QUERIES)
        ]
        write_records(folder, spec, records)
    for number in range(QUERIES):
        write_image(folder / "images" / f"{number}.png", number)
    return folder


@pytest.fixture(scope="module")
def messages(folder: Path) -> dict[tuple[str, int], dict]:
    """What a child says of each task, for a model that ranks the answer of query i + shift first for query i."""
    found = {}
    for spec in SPEC.tasks:
        task = load_task(folder, spec)
        for shift in (0, 1, 2):
            result = evaluate_task(task, _vectors(task, shift), cost=EmbeddingCost(seconds=0.0, peak_memory_bytes=0))
            found[spec.name, shift] = {"result": json.loads(json.dumps(task_result_to_json(result)))}
    return found


def _vectors(task: RetrievalTask, shift: int) -> np.ndarray:
    """The right candidate of query i lies where query i - `shift` does."""
    vectors = np.zeros((len(task.inputs), QUERIES), dtype=np.float32)
    for number, query in enumerate(task.queries):
        (right,) = query.relevant
        vectors[query.query, number] = 1
        vectors[right, (number - shift) % QUERIES] = 1
    return vectors


@pytest.fixture
def suite(db: None, settings: object, tmp_path: Path, folder: Path) -> Suite:
    suite = install(settings, tmp_path, SPEC)
    suite.tasks.filter(name="Hidden").update(images_may_be_shown=False)
    shutil.copytree(folder, tmp_path / SPEC.slug, dirs_exist_ok=True)
    return suite


@pytest.fixture
def evaluate(suite: Suite, messages: dict) -> Callable[..., Run]:
    """Ingests what a child says, as a worker does, and closes the run, which publishes it."""

    def evaluated(repo_id: str, *, shift: int) -> Run:
        run = make_run(suite=suite, revision=make_revision(repo_id))
        assert leases.run_next_claim(worker="w1") == run
        leases.run_start(run_id=run.pk, worker="w1")
        while claims := leases.task_group_claim(run_id=run.pk, worker="w1"):
            for claim in claims:
                _, outcome = outcome_from_message(messages[claim.task_name, shift], kind=suite.kind)
                results.task_run_succeed(claim=claim, worker="w1", outcome=outcome)
        assert results.run_scoring_claim(worker="w1") == run
        results.run_succeed(run_id=run.pk, worker="w1", aggregates=aggregates_of_run(run))
        return run

    return evaluated


@pytest.fixture
def runs(suite: Suite, evaluate: Callable[..., Run]) -> list[Run]:
    found = [evaluate("lab/best", shift=0), evaluate("lab/median", shift=2)]
    build_snapshot(suite.pk)
    return found


def page(client, name: str) -> str:
    response = client.get(f"/tasks/example/{name}/")
    assert response.status_code == 200
    return response.content.decode()


def test_the_best_and_the_median_model_stand_with_what_they_rank_first(client, runs) -> None:
    html = page(client, "Words")
    section = html.partition('id="examples"')[2]
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    assert "<dd>9</dd>" in html, "each query has nine candidates"
    # nine queries, at most six are shown: every second one
    assert section.count("<h3>Query ") == 5
    second = section.partition("<h3>Query 2</h3>")[2].partition("<h3>")[0]
    assert "question &lt;b&gt;2&lt;/b&gt;" in second
    assert "Best model, 100.0 on this task" in second
    assert "Median model, 0.0 on this task" in second
    assert second.count("answer 2") == 1, "the right answer is not said again where a model finds it"
    assert "answer 4" in second


def test_long_texts_are_cut(client, runs) -> None:
    (row,) = TaskExample.objects.filter(task__name="Words", record=0, place=None)
    assert len(row.text) == 4000
    assert row.text.endswith("…")
    assert LONG[:590] in page(client, "Words")
    assert LONG[:700] not in page(client, "Words")


def test_pictures_are_small_and_served_where_the_licence_allows(client, runs) -> None:
    html = page(client, "Pictures")
    addresses = {part.partition('"')[0] for part in html.split('<img src="')[1:]}
    # the right pictures of queries 0, 2, 4, 6 and 8, and those of the queries two further: 2, 4, 6, 8 and 1
    rows = TaskExample.objects.filter(task__name="Pictures", image__isnull=False)
    assert {row.record for row in rows} == {0, 1, 2, 4, 6, 8}
    assert addresses == {f"/tasks/pictures/{row.pk}.jpg" for row in rows}
    assert html.count('width="16" height="12" loading="lazy"') == html.count('<img src="'), "nothing moves as they load"
    response = client.get(min(addresses))
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert response["X-Content-Type-Options"] == "nosniff"
    image = Image.open(io.BytesIO(response.content))
    assert (image.format, image.size) == ("JPEG", (16, 12))
    again = client.get(min(addresses), headers={"If-None-Match": response["ETag"]})
    assert again.status_code == 304
    assert client.get("/tasks/pictures/999999.jpg").status_code == 404


def test_pictures_without_a_licence_are_neither_stored_nor_shown(client, runs) -> None:
    html = page(client, "Hidden")
    assert "<img" not in html.partition('id="examples"')[2]
    assert "image not shown: licence" in html
    assert "text not shown: licence" in html
    assert "picture 2" not in html
    rows = TaskExample.objects.filter(task__name="Hidden")
    assert {(bytes(row.image) if row.image else None, row.text) for row in rows} == {(None, "")}


def test_class_names_of_restricted_images_are_shown_and_other_texts_are_not() -> None:
    def shows(family: Family, place: int | None) -> bool:
        return text_may_be_shown(data_may_be_shown=False, family=family.value, at=Place(3, place))

    assert shows(Family.IMAGE_TO_LABEL, 0)
    assert not shows(Family.IMAGE_TO_LABEL, None)
    assert not any(shows(family, 0) for family in Family if family is not Family.IMAGE_TO_LABEL)


def test_a_licence_that_is_withdrawn_hides_pictures_that_are_stored(client, suite, runs) -> None:
    row = TaskExample.objects.filter(task__name="Pictures", image__isnull=False).first()
    assert client.get(f"/tasks/pictures/{row.pk}.jpg").status_code == 200
    suite.tasks.filter(name="Pictures").update(images_may_be_shown=False)
    assert client.get(f"/tasks/pictures/{row.pk}.jpg").status_code == 404
    html = page(client, "Pictures")
    assert "<img" not in html.partition('id="examples"')[2]
    assert "picture 2" not in html


def test_examples_follow_what_is_published(client, suite, runs, evaluate) -> None:
    before = set(TaskExample.objects.filter(task__name="Words").values_list("pk", flat=True))
    evaluate("lab/also-bad", shift=1)
    build_snapshot(suite.pk)
    after = set(TaskExample.objects.filter(task__name="Words").values_list("pk", flat=True))
    assert before & after, "what is still shown is not copied again"
    assert "answer 3" in page(client, "Words").partition('id="examples"')[2]
    assert TaskExample.objects.filter(task__name="Words").count() <= 4 * 6


@pytest.mark.parametrize("place", [{"candidate_record": 10**6}, {"candidate_place": 10**6}])
def test_a_candidate_that_is_not_there_is_left_out(client, suite, runs, place) -> None:
    """A hostile child can name any place; its ranks alone cannot tell."""
    found = runs[1].task_runs.get(task__name="Words")
    for example in found.first_ranked:
        example.update(place)
    found.save()
    suite.snapshots.all().delete()
    assert build_snapshot(suite.pk)
    assert "not stored" in page(client, "Words")


def test_a_damaged_picture_is_said_to_be_unavailable(client, suite, runs, tmp_path) -> None:
    TaskExample.objects.all().delete()
    suite.snapshots.all().delete()
    (tmp_path / SPEC.slug / "images" / "0.png").write_bytes(b"no picture")
    assert build_snapshot(suite.pk)
    html = page(client, "Pictures")
    assert "image not available" in html
    assert "<img" in html


def test_results_of_other_data_are_no_examples(client, suite, runs) -> None:
    runs[0].task_runs.filter(task__name="Words").update(data_sha256="f" * 64)
    suite.snapshots.all().delete()
    build_snapshot(suite.pk)
    section = page(client, "Words").partition('id="examples"')[2]
    assert "<dt>best" not in section
    assert "<dt>median" in section


def test_older_results_have_no_examples(client, suite, runs) -> None:
    for run in runs:
        run.task_runs.update(first_ranked=[], counts={})
    html = page(client, "Words")
    assert "Sample queries" not in html
    assert "known after the next run" in html


def test_the_page_costs_as_many_queries_for_any_number_of_examples(client, runs, django_assert_num_queries) -> None:
    page(client, "Words")
    with django_assert_num_queries(11):
        client.get("/tasks/example/Words/")

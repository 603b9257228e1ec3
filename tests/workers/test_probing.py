"""Probing suites from the folder to the board: catalogue, results, statistics, and the command line's same numbers."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.errors import ResultInvalid
from evaluation.probe_results import probe_result_to_json
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import RunResult, read_result, write_result
from evaluation.suites.medtec.demo import SLUG, build_medtec_demo
from evaluation.vocabulary import ProbeTaskKind
from leaderboard.models import BoardSnapshot, ModelRevision, Run, Suite, Task
from leaderboard.models.vocabulary import RunState, TaskKind
from leaderboard.selectors.comparison import publication_comparison
from leaderboard.selectors.probe_boards import probe_statistics
from leaderboard.services import leases, results
from tests.factories import make_revision, make_run, make_user
from tests.leaderboard.pages import blocked_by_policy, by_model, tables, wrongly_nested
from workers.catalogue import sync_catalogue
from workers.comparisons import build_comparisons
from workers.ingest import aggregates_of_run, outcome_from_message
from workers.probe_ingest import probe_result_of
from workers.snapshots import build_snapshot

pytestmark = pytest.mark.django_db

WORKER = "tester"


def invoke(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def suites_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suites")
    build_medtec_demo(folder / SLUG)
    return folder


def _raised(task: ProbeTaskResult) -> ProbeTaskResult:
    """The same task with every Discrimination Score higher by 0.2."""
    if "ds" not in task.arrays:
        return task
    return replace(task, arrays={**task.arrays, "ds": task.arrays["ds"] + np.float32(0.2)})


@pytest.fixture(scope="module")
def result_files(suites_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What the command line says of a model that guesses, and of one that does better in every cell."""
    folder = tmp_path_factory.mktemp("results")
    files = {name: folder / f"{name}.json" for name in ("chance", "better")}
    invoke("run", "--model", "chance", "--suite", suites_dir / SLUG, "--out", files["chance"])
    result = read_result(files["chance"])
    better = replace(result.model, id="better")
    write_result(
        files["better"],
        replace(result, model=better, probe_tasks=tuple(_raised(task) for task in result.probe_tasks)),
    )
    return files


@pytest.fixture
def suite(suites_dir: Path, settings: Any) -> Suite:
    settings.SUITES_DIR = suites_dir
    sync_catalogue()
    return Suite.objects.get(slug=SLUG)


def evaluate(suite: Suite, result: RunResult, *, revision: ModelRevision | None = None, attempt: int = 1) -> Run:
    """A run whose tasks are claimed, answered by a child's messages, and closed as a worker does it."""
    revision = revision or make_revision(f"lab/{result.model.id}")
    run = make_run(suite=suite, revision=revision, state=RunState.RUNNING, attempt=attempt)
    documents = {task.task: probe_result_to_json(task) for task in result.probe_tasks}
    while claims := leases.task_group_claim(run_id=run.pk, worker=WORKER):
        for claim in claims:
            name, outcome = outcome_from_message({"result": documents[claim.task_name]}, kind=suite.kind)
            assert name == claim.task_name
            results.task_run_succeed(claim=claim, worker=WORKER, outcome=outcome)
    closing = results.run_scoring_claim(worker=WORKER)
    assert closing == run
    results.run_succeed(run_id=run.pk, worker=WORKER, aggregates=aggregates_of_run(closing))
    run.refresh_from_db()
    return run


@pytest.fixture
def runs(suite: Suite, result_files: dict[str, Path]) -> dict[str, Run]:
    return {name: evaluate(suite, read_result(file)) for name, file in result_files.items()}


def test_models_are_compared_by_modality_and_by_cell(
    suite: Suite, runs: dict[str, Run], django_assert_max_num_queries: Any
) -> None:
    build_snapshot(suite.pk)
    chance, better = runs["chance"].pk, runs["better"].pk
    address = f"/compare/?suite={suite.slug}&run={chance}&run={better}"
    html = Client().get(address).content.decode()
    assert blocked_by_policy(html) == wrongly_nested(html) == []
    modalities, cells = tables(html)
    # every Discrimination Score of the better one is higher by 0.2, whoever is drawn
    assert {row[3] for row in modalities[1:]} == {"+0.200 |+0.200 to +0.200"}
    assert {row[3] for row in cells[1:]} == {"+0.200 |+0.200 to +0.200"}
    assert len(cells) > len(modalities)
    assert "better against chance: shown to be better on " in html
    assert html.count('<svg class="polygons"') == len(modalities) - 1
    with django_assert_max_num_queries(12):
        Client().get(address)
    turned = Client().get(f"/compare/?suite={suite.slug}&run={better}&run={chance}&format=json").json()
    assert {row["lab/chance_difference"] for row in turned} == {-0.2}


def test_a_rerun_is_compared_cell_by_cell(suite: Suite, result_files: dict[str, Path]) -> None:
    old = evaluate(suite, read_result(result_files["chance"]))
    new = evaluate(suite, read_result(result_files["better"]), revision=old.revision, attempt=2)
    assert not new.is_published
    build_comparisons()
    rows = publication_comparison(new.pk).rows
    cells = [row for row in rows if row.metric == "ds"]
    assert len(cells) == suite.tasks.filter(kind=TaskKind.CELL).count()
    for row in cells:
        # Every anchor is higher by 0.2, so every resample is.
        assert (row.paired.value, row.paired.lower, row.paired.upper) == pytest.approx((0.2, 0.2, 0.2), abs=1e-6)
        assert row.paired.is_separated
    assert all(row.paired is None for row in rows if row.metric != "ds")


def test_the_catalogue_has_every_task_with_its_kind_and_what_its_data_say(suite: Suite) -> None:
    assert (suite.kind, suite.synthetic) == ("probing", True)
    tasks = {task.name: task for task in suite.tasks.all()}
    assert all(task.is_installed for task in tasks.values())
    cell = tasks["chest_radiograph.L4"]
    assert (cell.kind, cell.modality, cell.level, cell.style, cell.subtype, cell.selection) == (
        "cell", "chest_radiograph", "L4", "template", "", "all",
    )  # fmt: skip
    assert cell.n_queries == 40
    assert cell.chance is None
    assert sum(cell.data_facts["anchors by label"].values()) == 40
    negation = tasks["chest_radiograph.L5"]
    assert (negation.subtype, negation.selection, negation.n_queries) == ("mixed", "finding", 32)
    assert tasks["chest_radiograph.L5.no_finding"].n_queries == 8
    kinds = {task.kind: task for task in tasks.values()}
    assert set(kinds) == {value for value in TaskKind.values if value != "retrieval"}
    assert kinds["closed_questions"].chance == kinds["zero_shot"].chance == 0.5
    assert {task.data_group for task in tasks.values() if task.modality == "dermoscopy"} == {"dermoscopy"}


def test_a_cells_page_shows_the_texts_of_every_template(suite: Suite, client: Client) -> None:
    task = suite.tasks.get(name="chest_radiograph.L4")
    assert len(task.example_probes) >= 3
    html = client.get(f"/tasks/{SLUG}/{task.name}/").content.decode()
    assert html.count("<h4>Right</h4>") == len(task.example_probes)
    for probe in task.example_probes:
        assert len(probe["positives"]) == 4
        assert not set(probe["positives"]) & set(probe["negatives"])
        for text in (*probe["positives"], *probe["negatives"]):
            assert f"<li>{text}</li>" in html


def test_syncing_twice_changes_nothing_and_missing_images_take_tasks_out(
    suite: Suite, suites_dir: Path, tmp_path: Path, settings: Any
) -> None:
    before = list(Task.objects.filter(suite=suite).order_by("pk").values())
    sync_catalogue()
    assert list(Task.objects.filter(suite=suite).order_by("pk").values()) == before
    settings.SUITES_DIR = tmp_path
    (tmp_path / SLUG).mkdir()
    for path in (suites_dir / SLUG).iterdir():
        if path.name != "images":
            (tmp_path / SLUG / path.name).symlink_to(path)
    sync_catalogue()
    cells = Task.objects.filter(suite=suite, kind="cell")
    assert not cells.filter(is_installed=True).exists()
    reason = cells.first().unavailable_reason
    assert "data_missing" in reason
    assert str(tmp_path) not in reason


def test_a_run_is_closed_published_and_kept_whole(runs: dict[str, Run], result_files: dict[str, Path]) -> None:
    run = runs["chance"]
    assert run.state == RunState.SUCCEEDED
    assert run.is_published
    assert not run.aggregate_scores.exists()
    told = {task.task: task for task in read_result(result_files["chance"]).probe_tasks}
    stored = run.task_runs.select_related("task").prefetch_related("scores")
    assert len(stored) == len(told)
    for task_run in stored:
        expected, found = told[task_run.task.name], probe_result_of(task_run)
        assert found.metrics[0] == expected.metrics[0], "the main metric comes first"
        assert set(found.metrics) == set(expected.metrics)
        assert dict(found.counts) == dict(expected.counts)
        assert (found.kind, found.spec_sha256, found.data_sha256, found.chance) == (
            expected.kind, expected.spec_sha256, expected.data_sha256, expected.chance,
        )  # fmt: skip
        assert set(found.arrays) == set(expected.arrays)
        for name, array in expected.arrays.items():
            assert np.array_equal(found.arrays[name], array)


def test_the_board_has_the_command_lines_numbers(
    suite: Suite, runs: dict[str, Run], result_files: dict[str, Path], suites_dir: Path, client: Client
) -> None:
    assert build_snapshot(suite.pk)
    stored = BoardSnapshot.objects.get(suite=suite, is_current=True).content
    printed = json.loads(
        invoke("analyse", *(result_files[name] for name in runs), "--suite", suites_dir / SLUG, "--json")
    )
    names = {str(run.pk): name for name, run in runs.items()}
    assert _numbers(stored, names) == _numbers(printed, {name: name for name in runs})
    assert {key: stored[key] for key in ("suite", "version", "suite_sha256", "seed", "resamples")} == {
        key: printed[key] for key in ("suite", "version", "suite_sha256", "seed", "resamples")
    }
    assert probe_statistics(suite.pk).is_fresh
    html = client.get(f"/boards/medtec/level/L4/?suite={SLUG}").content.decode()
    board = by_model(tables(html)[0])
    shown = {name: row["Chest radiograph"].partition("|")[0].strip() for name, row in board.items()}
    expected = {row["model"]: f"{row['ds']:+.3f}" for row in printed["cells"] if row["task"] == "chest_radiograph.L4"}
    assert shown == expected


def _numbers(document: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Every table with the models by their own names, in an order that does not depend on the keys of models."""
    found: dict[str, Any] = {"models": sorted(names[key] for key in document["models"])}
    for table, rows in document.items():
        if isinstance(rows, list) and table != "models":
            renamed = [{**row, "model": names[row["model"]]} if "model" in row else row for row in rows]
            found[table] = sorted(json.dumps(row, sort_keys=True) for row in renamed)
    return found


def test_results_on_other_data_are_left_out_and_named(suite: Suite, result_files: dict[str, Path]) -> None:
    result = read_result(result_files["chance"])
    other = tuple(
        replace(task, data_sha256="f" * 64) if task.task == "chest_radiograph.L1" else task
        for task in result.probe_tasks
    )
    for name in ("one", "two"):
        evaluate(suite, replace(result, model=replace(result.model, id=name)))
    apart = evaluate(suite, replace(result, model=replace(result.model, id="apart"), probe_tasks=other))
    build_snapshot(suite.pk)
    statistics = probe_statistics(suite.pk)
    assert statistics.left_out == {str(apart.pk): ["chest_radiograph.L1"]}
    measured = {cell.model for cell in statistics.content.cells if cell.task == "chest_radiograph.L1"}
    assert len(measured) == 2
    assert str(apart.pk) not in measured


def _broken(result: RunResult, **changes: Any) -> dict[str, Any]:
    task = next(task for task in result.probe_tasks if task.kind is ProbeTaskKind.CELL)
    return {"result": copy.deepcopy(probe_result_to_json(task)) | changes}


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "retrieval_of_things"},
        {"counts": {}},
        {"metrics": []},
        {"metrics": [{"name": "ds", "value": float("nan"), "lower": None, "upper": None}]},
        {"metrics": [{"name": "ds", "value": 0.5, "lower": 0.6, "upper": 0.7}]},
        {"arrays": {"ds": {"shape": [1], "data": "not base64"}}},
        {"arrays": {"ds": {"shape": [9, 9], "data": ""}}},
        {"data_sha256": "short"},
        {"surprise": 1},
    ],
)
def test_bad_messages_are_refused(result_files: dict[str, Path], changes: dict[str, Any]) -> None:
    message = _broken(read_result(result_files["chance"]), **changes)
    with pytest.raises(ResultInvalid):
        outcome_from_message(message, kind="probing")


@pytest.mark.parametrize("message", [{}, {"result": None}, {"result": []}, {"result": {"task": "x"}}])
@pytest.mark.parametrize("kind", ["probing", "retrieval"])
def test_messages_without_a_result_are_refused(message: dict[str, Any], kind: str) -> None:
    with pytest.raises(ResultInvalid):
        outcome_from_message(message, kind=kind)


def test_a_result_of_the_other_kind_of_suite_is_refused(result_files: dict[str, Path]) -> None:
    message = _broken(read_result(result_files["chance"]))
    with pytest.raises(ResultInvalid):
        outcome_from_message(message, kind="retrieval")


def test_arrays_that_are_damaged_leave_the_board_without_and_are_logged(
    suite: Suite, runs: dict[str, Run], caplog: pytest.LogCaptureFixture
) -> None:
    runs["better"].task_runs.filter(task__name="chest_radiograph.L1").update(outcomes=b"{")
    assert not build_snapshot(suite.pk)
    assert "arrays cannot be unpacked" in caplog.text
    assert probe_statistics(suite.pk) is None


def test_administrators_see_old_and_new_scores_side_by_side(
    suite: Suite, runs: dict[str, Run], result_files: dict[str, Path]
) -> None:
    administrator = make_user("boss", is_staff=True)
    client = Client()
    client.force_login(administrator)
    old = runs["chance"]
    again = make_run(suite=suite, revision=old.revision, state=RunState.SUCCEEDED, attempt=2)
    for task_run in old.task_runs.all():
        copied = again.task_runs.get(task=task_run.task)
        copied.scores.create(metric="ds", value=0.125, is_main=True)
    html = client.get(f"/runs/{again.pk}/").content.decode()
    (comparison,) = [table for table in tables(html) if table[0][0] == "Task" and table[0][1] == "Published"]
    row = next(row for row in comparison if row[0] == "Chest radiograph, finding (synthetic)")
    ds = old.task_runs.get(task__name="chest_radiograph.L4").scores.get(metric="ds").value
    assert row[1:4] == [f"{ds:+.3f}", "+0.125", f"{0.125 - ds:+.3f}"]

"""`analyse` on results of a probing suite that was built, run and read as a person does it."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.errors import ResultInvalid
from evaluation.manifest import canonical_sha256
from evaluation.probe_types import ProbeTaskResult
from evaluation.results import read_result, write_result
from evaluation.suites.medheb.reported import reported_figures as medheb_figures
from evaluation.suites.medtec.board import probe_board_from_json
from evaluation.suites.medtec.reported import reported_figures
from evaluation.vocabulary import ProbeTaskKind


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def _raised(task: ProbeTaskResult) -> ProbeTaskResult:
    """The same task with every DS higher by 0.2."""
    ds = task.arrays["ds"] + np.float32(0.2) if "ds" in task.arrays else None
    return task if ds is None else replace(task, arrays={**task.arrays, "ds": ds})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probing")
    run("build", "medtec-demo", "--out", folder / "suite")
    run("run", "--model", "chance", "--suite", folder / "suite", "--out", folder / "chance.json")
    result = read_result(folder / "chance.json")
    better = replace(result.model, id="better")
    write_result(
        folder / "better.json",
        replace(result, model=better, probe_tasks=tuple(_raised(task) for task in result.probe_tasks)),
    )
    return folder


@pytest.fixture(scope="module")
def board(folder: Path):
    printed = run("analyse", folder / "chance.json", folder / "better.json", "--suite", folder / "suite", "--json")
    return probe_board_from_json(json.loads(printed))


def test_the_board_has_what_was_measured(folder: Path, board) -> None:
    result = read_result(folder / "chance.json")
    assert board.models == ("better", "chance")
    assert board.suite_sha256 == result.suite.manifest_sha256
    measured = {task.task: task for task in result.probe_tasks if task.kind is ProbeTaskKind.CELL}
    assert len(board.cells) == 2 * len(measured)
    for cell in board.cells:
        task = measured[cell.task]
        values = {metric.name: metric for metric in task.metrics}
        if cell.model == "chance":
            # The interval of the board is that of the result: both rest on the same draws.
            found = (cell.ds, cell.lower, cell.upper)
            expected = (values["ds"].value, values["ds"].lower, values["ds"].upper)
            assert found == pytest.approx(expected, abs=1e-6)
            assert (cell.rank, cell.tie_group) == (2, 2)
        else:
            assert cell.ds == pytest.approx(values["ds"].value + 0.2, abs=1e-6)
            assert (cell.rank, cell.tie_group) == (1, 1)
        assert cell.failure_rate == values["failure_rate"].value
        assert cell.n_anchors == task.counts["anchors"]


def test_protocols_rank_both_models_by_what_was_measured(folder: Path, board) -> None:
    result = read_result(folder / "chance.json")
    metrics = {(task.task, metric.name): metric.value for task in result.probe_tasks for metric in task.metrics}
    found = {(row.protocol, row.model): row for row in board.protocols}
    assert {protocol for protocol, _ in found} == {"retrieval", "zero_shot", "probing"}
    for (protocol, model), row in found.items():
        raised = 0.2 if (protocol, model) == ("probing", "better") else 0.0
        assert row.value == pytest.approx(metrics[row.task, row.metric] + raised, abs=1e-6)
    assert [found["probing", model].rank for model in ("better", "chance")] == [1, 2]
    assert [found["retrieval", model].rank for model in ("better", "chance")] == [1, 1]
    # Where one protocol ties both models there is no order to agree with.
    assert {row.tau for row in board.agreements} == {None}


def test_blind_baselines_are_those_of_the_result(folder: Path, board) -> None:
    result = read_result(folder / "chance.json")
    metrics = {(task.task, metric.name): metric.value for task in result.probe_tasks for metric in task.metrics}
    rows = [row for row in board.blind_baselines if row.model == "chance"]
    assert len(rows) == 2 * 2 * 5
    for row in rows:
        assert row.ds == pytest.approx(metrics[row.task, f"ds_{row.image}"], abs=1e-6)
    # Chance knows nothing of blank images either: over many texts its surplus is small.
    assert abs(np.mean([row.surplus for row in rows])) < 0.5


def test_checks_cover_every_probe_set_once(board) -> None:
    keys = [(row.modality, row.level, row.style, row.subtype, row.selection) for row in board.checks]
    assert len(keys) == len(set(keys)) == len({cell.task for cell in board.cells})
    assert {row.n_on_both_sides for row in board.checks} == {0}


def test_tables_are_printed_and_plots_written(folder: Path, tmp_path: Path) -> None:
    printed = run(
        "analyse", folder / "chance.json", folder / "better.json", "--suite", folder / "suite", "--plots", tmp_path
    )
    for title in ("Discrimination Scores", "First level that collapses", "Phrasing styles", "Blind baseline"):
        assert title in printed
    assert "synthetic" in printed
    assert reported_figures().source not in printed
    names = {path.name for path in tmp_path.iterdir()}
    assert {"negation.svg", "negation.png", "checks.svg", "levels-chest_radiograph-demo_radiograph.svg"} <= names


def test_other_data_are_refused(folder: Path, tmp_path: Path) -> None:
    result = read_result(folder / "better.json")
    first, *others = result.probe_tasks
    changed = replace(first, data_sha256=canonical_sha256("other"))
    write_result(tmp_path / "other.json", replace(result, probe_tasks=(changed, *others)))
    with pytest.raises(ResultInvalid, match=rf"other data in {first.task} "):
        run("analyse", folder / "chance.json", tmp_path / "other.json", "--suite", folder / "suite")


def test_a_suite_that_was_declared_otherwise_is_refused(folder: Path, tmp_path: Path) -> None:
    run("build", "medtec-demo", "--out", tmp_path / "suite")
    manifest = tmp_path / "suite" / "suite.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"version": "1"', '"version": "2"'))
    with pytest.raises(ResultInvalid, match="as it was declared when they were made"):
        run("analyse", folder / "chance.json", "--suite", tmp_path / "suite")


def test_plots_are_of_probing_suites_only(folder: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["analyse", str(folder / "chance.json"), "--plots", str(tmp_path)])
    assert result.exit_code == 2
    assert "probing suites only" in result.output


def test_reported_figures_are_those_of_the_paper() -> None:
    """As the authors' page states them."""
    figures = reported_figures()
    assert {figure.id: figure.numbers for figure in figures.figures} == {
        "openi_recall_at_50": (12.9, 4.5),
        "openi_zero_shot": (0.708,),
        "openi_probing": (-0.219, -0.167),
        "style_cells": (62, 63),
        "style_spread": (0.01, 0.04),
        "hedged_cells": (38, 46),
        "negation_shares": (83, 52, 50),
        "closed_questions": (1191,),
        "closed_questions_accuracy": (0.484, 0.53),
        "closed_questions_above_chance": (2,),
        "closed_questions_yes_rate": (0.164, 0.766),
    }
    assert figures.suite == "medtec"
    assert "not measured here" in figures.status
    assert figures.lines()[1].startswith("  BioViL and BiomedCLIP on OpenI: image-text retrieval R@50: 12.9, 4.5")
    assert medheb_figures().suite == "medheb"

"""`compare` and `analyse` on result files, as a person runs them."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.errors import ResultInvalid
from evaluation.manifest import write_manifest
from evaluation.suites.medheb.board import board_from_json
from evaluation.suites.medheb.catalogue import medheb_suite
from evaluation.suites.medheb.comparison import compare_models
from evaluation.suites.medheb.reported import reported_figures
from evaluation.types import RankOutcomes
from evaluation.vocabulary import Family
from tests.evaluation.outcomes import outcomes_of, share_of_hits
from tests.evaluation.result_files import write_result_of
from tests.evaluation.suite_folders import suite_of, task_spec

QUERIES = 200
SUITE = suite_of(
    task_spec("Label", family=Family.IMAGE_TO_LABEL),
    task_spec("OtherLabel", family=Family.IMAGE_TO_LABEL),
    task_spec("Pair", family=Family.TEXT_TO_TEXT),
)


def shuffled(share: float, seed: int) -> RankOutcomes:
    hits = [int(number < share * QUERIES) for number in range(QUERIES)]
    return outcomes_of(np.random.default_rng(seed).permutation(hits))


GOOD = {"Label": shuffled(0.9, 1), "OtherLabel": shuffled(0.5, 2), "Pair": shuffled(0.6, 3)}
POOR = {"Label": shuffled(0.3, 4), "OtherLabel": shuffled(0.5, 5), "Pair": shuffled(0.5, 6)}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "suite").mkdir()
    write_manifest(folder / "suite", SUITE)
    write_result_of(folder / "good.json", SUITE, GOOD)
    write_result_of(folder / "poor.json", SUITE, POOR)
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return shutil.copytree(written, tmp_path / "copy")


def run(*arguments: str | Path) -> str:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None:
        raise result.exception
    return result.stdout


def rows_of(folder: Path, *names: str) -> dict[tuple[str, str], dict]:
    paths = [folder / f"{name}.json" for name in names]
    document = json.loads(run("compare", *paths, "--suite", folder / "suite", "--json"))
    return {(row["scope"], row["key"]): row for row in document["rows"]}


def test_the_difference_of_a_task_agrees_with_scipy() -> None:
    """Paired resampling of the queries, from another implementation with another generator."""
    (found,) = [row for row in compare_models(SUITE, GOOD, POOR) if row.key == "Pair"]
    gaps = POOR["Pair"].above.astype(float) - GOOD["Pair"].above
    reference = stats.bootstrap((gaps,), np.mean, method="percentile", rng=np.random.default_rng(0))
    assert found.difference.value == pytest.approx(0.1)
    ends = tuple(reference.confidence_interval)
    assert (found.difference.lower, found.difference.upper) == pytest.approx(ends, abs=0.011)
    share = (reference.bootstrap_distribution > 0).mean() + (reference.bootstrap_distribution == 0).mean() / 2
    assert found.difference.probability_higher == pytest.approx(share, abs=0.01)


def test_differences_of_groups_are_those_of_their_means() -> None:
    rows = {(row.scope, row.key): row for row in compare_models(SUITE, GOOD, POOR)}
    assert rows["family", "image_to_label"].difference.value == pytest.approx(0.3)
    assert rows["overall", "overall"].difference.value == pytest.approx(0.2)
    assert rows["domain", "thoracic"].difference.value == pytest.approx(0.7 / 3)
    assert rows["family", "image_to_label"].better == "a"
    assert rows["task", "OtherLabel"].better == ""


def test_only_tasks_of_both_count() -> None:
    rows = {(row.scope, row.key): row for row in compare_models(SUITE, GOOD, {"Label": POOR["Label"]})}
    assert set(rows) >= {("overall", "overall"), ("task", "Label")}
    assert ("task", "Pair") not in rows
    assert (rows["family", "image_to_label"].n_tasks, rows["family", "image_to_label"].n_expected) == (1, 2)
    assert rows["overall", "overall"].difference.value == pytest.approx(0.6)
    with pytest.raises(ResultInvalid, match="no scored task in common"):
        compare_models(SUITE, {"Label": GOOD["Label"]}, {"Pair": POOR["Pair"]})


def test_the_command_says_who_is_better(folder: Path) -> None:
    shown = run("compare", folder / "good.json", folder / "poor.json", "--suite", folder / "suite")
    assert "Overall good is better by 20.0 points." in shown
    assert re.search(r"task\W+Label\W+90\.0\W+30\.0\W+60\.0", shown)
    assert rows_of(folder, "good", "poor")["overall", "overall"]["better"] == "a"


def test_turned_round_the_other_is_better(folder: Path) -> None:
    forth, back = rows_of(folder, "good", "poor"), rows_of(folder, "poor", "good")
    for place, row in forth.items():
        assert back[place]["difference"]["value"] == pytest.approx(-row["difference"]["value"])
        assert {row["better"], back[place]["better"]} in ({"a", "b"}, {""})


def test_the_same_outcomes_cannot_be_told_apart(folder: Path) -> None:
    write_result_of(folder / "twin.json", SUITE, GOOD)
    shown = run("compare", folder / "good.json", folder / "twin.json", "--suite", folder / "suite")
    assert "cannot be told apart: they are 0.0 points from each other" in shown
    assert rows_of(folder, "good", "twin")["overall", "overall"]["difference"]["probability_higher"] == 0.5


def test_results_of_different_suites_are_refused(folder: Path) -> None:
    other = dataclasses.replace(SUITE, version="2")
    write_result_of(folder / "other.json", other, GOOD)
    with pytest.raises(ResultInvalid, match=r"good\.json is of example 1 and .*other\.json of example 2"):
        run("compare", folder / "good.json", folder / "other.json")
    changed = dataclasses.replace(SUITE, title="Changed")
    write_result_of(folder / "changed.json", changed, GOOD)
    with pytest.raises(ResultInvalid, match="its declaration was changed"):
        run("compare", folder / "good.json", folder / "changed.json")


def test_results_on_different_data_are_refused_by_task(folder: Path) -> None:
    write_result_of(folder / "other.json", SUITE, POOR, data="second")
    with pytest.raises(ResultInvalid, match=r"other\.json was evaluated on other data in Label \(as in .*good\.json\)"):
        run("compare", folder / "good.json", folder / "other.json", "--suite", folder / "suite")


def test_the_declaration_of_the_suite_must_be_at_hand(folder: Path) -> None:
    with pytest.raises(ResultInvalid, match="--suite"):
        run("compare", folder / "good.json", folder / "poor.json")


def test_two_commits_of_a_model_are_told_apart(folder: Path) -> None:
    for number in (1, 2):
        write_result_of(folder / f"m{number}.json", SUITE, GOOD, model="a/b", revision=str(number) * 40)
    shown = run("compare", folder / "m1.json", folder / "m2.json", "--suite", folder / "suite")
    assert "A: a/b 111111111111" in shown
    with pytest.raises(ResultInvalid, match=r"m1\.json and .*m1\.json are results of one and the same model"):
        run("compare", folder / "m1.json", folder / "m1.json", "--suite", folder / "suite")


def test_an_error_is_one_sentence_and_exit_code_1(folder: Path) -> None:
    arguments = ["compare", str(folder / "good.json"), str(folder / "absent.json")]
    found = subprocess.run(
        [sys.executable, "-m", "evaluation", *arguments], capture_output=True, text=True, check=False, timeout=120
    )
    assert found.returncode == 1
    assert found.stderr.startswith("result_invalid: ")
    assert "absent.json cannot be read" in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_analyse_prints_the_numbers_of_the_board(folder: Path) -> None:
    paths = [folder / "good.json", folder / "poor.json"]
    shown = run("analyse", *paths, "--suite", folder / "suite")
    board = board_from_json(json.loads(run("analyse", *paths, "--suite", folder / "suite", "--json")))
    (overall,) = [group for group in board.groups if group.scope == "overall"]
    assert [standing.model for standing in overall.standings] == ["good", "poor"]
    assert overall.standings[0].value == pytest.approx(0.65)
    assert re.search(r"overall\W+overall\W+good\W+65\.0", shown)
    assert "none of the 8 public baselines" in shown
    assert "release's rule" not in shown
    assert reported_figures().source not in shown


def test_analyse_names_what_ties_are_worth(folder: Path) -> None:
    tied = {name: outcomes_of([1] * QUERIES, tied=1) for name in GOOD}
    write_result_of(folder / "constant.json", SUITE, tied)
    shown = run("analyse", folder / "constant.json", "--suite", folder / "suite")
    assert "constant, Label: the release's rule for ties would add 50.0 points." in shown


def test_baselines_make_buckets_and_authors_figures_stand_apart(tmp_path: Path) -> None:
    """On the catalogue itself, with a few of its tasks: no suite folder is needed."""
    suite = medheb_suite()
    names = [spec.name for spec in suite.tasks[:3]]
    shares = dict(zip(names, (0.02, 0.05, 0.5), strict=True))
    outcomes = {name: share_of_hits(share, queries=100) for name, share in shares.items()}
    path = write_result_of(tmp_path / "baseline.json", suite, outcomes, model="google/medsiglip-448")
    board = board_from_json(json.loads(run("analyse", path, "--json")))
    assert {bucket.bucket: list(bucket.tasks) for bucket in board.buckets} == {
        "collapse": names[:1],
        "weak": names[1:2],
        "tractable": names[2:],
    }
    shown = run("analyse", path)
    assert "1 of 8 public baselines" in shown
    assert "Reported by the authors, not measured here (arXiv:2611.02519):" in shown
    assert "MedEmb-8B: mean family Hit@1: 46.1 (percent)" in shown


def test_reported_figures_are_those_of_the_paper() -> None:
    """As the authors' page states them."""
    found = {figure.id: figure.numbers for figure in reported_figures().figures}
    assert found == {
        "best_family_mean": (46.1,),
        "best_cv": (0.34,),
        "best_public_family_mean": (25.3,),
        "public_cv_at_least": (0.65,),
        "bucket_tasks": (15, 24, 45, 23),
        "bucket_spread": (1.9, 17.1),
        "drop": (7.7, 26.6),
    }
    assert sum(found["bucket_tasks"]) == len(medheb_suite().tasks)

"""The command line, in this process: what it writes and what it says."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.commands.encoding import read_embeddings
from evaluation.commands.models_to_run import find_model
from evaluation.commands.partial_results import PartialResults
from evaluation.commands.table import markdown_table
from evaluation.errors import EmbeddingInvalid, EvaluationError, ModelInvalid, ResultInvalid
from evaluation.results import SuiteIdentity, read_result, write_result
from evaluation.suites.medheb.aggregation import aggregate
from tests.evaluation.suite_folders import suite_of, task_spec, write_manifest, write_records, write_text_suite
from tests.evaluation.test_aggregation import SUITE, scored
from tests.evaluation.test_results import run_result, task_result


def invoke(*arguments):
    words = [str(argument) for argument in arguments]
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    write_text_suite(folder, tasks=2, queries=12)
    return folder


def test_run_chance_writes_a_valid_result_and_prints_it(suite, tmp_path):
    out = tmp_path / "result.json"
    output = invoke("run", "--model", "chance", "--suite", suite, "--out", out)
    result = read_result(out)
    assert [task.task for task in result.tasks] == ["Task0", "Task1"]
    assert result.model.id == "chance"
    assert result.suite.synthetic
    assert "synthetic data" in output
    assert "2 tasks scored, 0 failed" in output
    assert not out.with_name("result.json.partial").exists()


def test_run_minilm_finds_texts_that_share_words(suite, tmp_path):
    out = tmp_path / "result.json"
    invoke("run", "--model", "minilm", "--suite", suite, "--out", out, "--tasks", "Task1")
    (task,) = read_result(out).tasks
    assert task.task == "Task1"
    assert task.metrics[0].lower > task.chance


def test_run_leaves_out_tasks_without_data_and_says_so(suite, tmp_path):
    (suite / "Text_Task" / "Task0.json").unlink()
    out = tmp_path / "result.json"
    assert "awaiting data, left out: Task0" in invoke("run", "--model", "chance", "--suite", suite, "--out", out)
    overall = read_result(out).aggregates[0]
    assert (overall.n_tasks, overall.n_expected) == (1, 2)


def test_run_without_any_score_exits_with_1(tmp_path):
    spec = task_spec(image_root="")
    write_records(tmp_path, spec, [{"qry_inst": ""}])
    write_manifest(tmp_path, suite_of(spec))
    arguments = ["run", "--model", "chance", "--suite", str(tmp_path), "--out", str(tmp_path / "result.json")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert read_result(tmp_path / "result.json").failures[0].code == "record_invalid"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"--model": "owner/name", "--revision": "abc"}, "hf download owner/name --revision abc --local-dir FOLDER"),
        ({"--model": "/nowhere"}, "is not a folder"),
        ({"--model": "chance", "--adapter": "x"}, "takes no adapter"),
        ({"--model": "chance", "--tasks": "Task9"}, "no task called Task9"),
    ],
)
def test_run_says_what_to_do_next(suite, tmp_path, arguments, said):
    given = {"--suite": str(suite), "--out": str(tmp_path / "result.json")} | arguments
    with pytest.raises(EvaluationError, match=said):
        CliRunner().invoke(app, ["run", *(word for pair in given.items() for word in pair)], catch_exceptions=False)


def embeddings_of_inputs(suite, path, *, scale=1.0):
    """Made 'elsewhere': a vector a listed input, from its text alone."""
    lines = [json.loads(line) for line in invoke("tasks", "--suite", suite, "--inputs").splitlines()]
    words = sorted({word for line in lines for word in line["text"].split()})
    vectors = np.array([[line["text"].split().count(word) for word in words] for line in lines], dtype=np.float64)
    np.savez(path, ids=np.array([line["id"] for line in lines]), vectors=vectors * scale)
    return lines


def test_score_evaluates_embeddings_made_elsewhere(suite, tmp_path):
    lines = embeddings_of_inputs(suite, tmp_path / "words.npz", scale=4.0)
    assert len({line["id"] for line in lines}) == len(lines)
    invoke("score", "--embeddings", tmp_path / "words.npz", "--suite", suite, "--out", tmp_path / "result.json")
    result = read_result(tmp_path / "result.json")
    assert result.model.id == "words"
    assert result.model.description.family == "external"
    # "question 3 about the brain" shares number and organ with its finding, and at most one of them with the others.
    assert result.tasks[0].metrics[0].value == 1


def test_score_names_an_input_without_embedding(suite, tmp_path):
    embeddings_of_inputs(suite, tmp_path / "words.npz")
    with np.load(tmp_path / "words.npz") as whole:
        np.savez(tmp_path / "less.npz", ids=whole["ids"][1:], vectors=whole["vectors"][1:])
        first = str(whole["ids"][0])
    result = CliRunner().invoke(
        app,
        ["score", "--embeddings", str(tmp_path / "less.npz"), "--suite", str(suite), "--out", str(tmp_path / "r.json")],
    )
    assert result.exit_code == 1
    failures = read_result(tmp_path / "r.json").failures
    assert {failure.code for failure in failures} == {"data_missing"}
    assert first in failures[0].message


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"vectors": np.ones((1, 2))}, "no array called 'ids'"),
        ({"ids": np.array(["a"])}, "no array called 'vectors'"),
        ({"ids": np.array([1]), "vectors": np.ones((1, 2))}, "ids must be one row of texts"),
        ({"ids": np.array(["a"]), "vectors": np.ones((1, 2), dtype=int)}, "matrix of floats"),
        ({"ids": np.array(["a"]), "vectors": np.ones(2)}, "matrix of floats"),
        ({"ids": np.array(["a", "b"]), "vectors": np.ones((1, 2))}, "2 ids do not fit 1 vectors"),
        ({"ids": np.array(["a", "a"]), "vectors": np.ones((2, 2))}, "an id stands twice"),
        ({"ids": np.array(["a"]), "vectors": np.zeros((1, 2))}, "all zeros"),
        ({"ids": np.array(["a"]), "vectors": np.full((1, 2), np.nan)}, "not finite"),
        ({"ids": np.array(["a"], dtype=object), "vectors": np.ones((1, 2))}, "plain arrays"),
    ],
)
def test_a_bad_embeddings_file_is_refused(tmp_path, arrays, said):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises((ResultInvalid, EmbeddingInvalid), match=said):
        read_embeddings(tmp_path / "bad.npz")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"plain text"])
def test_a_file_that_is_no_npz_is_refused(tmp_path, content):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(ResultInvalid, match="cannot be read as an"):
        read_embeddings(tmp_path / "bad.npz")


def test_tasks_lists_the_catalogue_and_the_state_of_a_suite(suite):
    assert "107 tasks" in invoke("tasks")
    (suite / "Text_Task" / "Task0.json").unlink()
    output = invoke("tasks", "--suite", suite)
    assert "installed" in output
    assert "awaiting data" in output


def test_models_lists_every_family():
    output = invoke("models")
    for family in ("clip", "siglip", "qwen3_vl", "sentence_transformers", "lite_dual", "chance"):
        assert family in output


def test_table_prints_families_best_first(tmp_path):
    paths = []
    for name, hits in (("weak", 1), ("strong", 8)):
        aggregates = aggregate(SUITE, {task: scored(task, hits).outcomes for task in ("A", "B", "C")})
        result = run_result(aggregates=aggregates, model=replace(run_result().model, id=name))
        paths.append(tmp_path / f"{name}.json")
        write_result(paths[-1], result)
    lines = invoke("table", *paths).splitlines()
    assert lines[0] == "S 1, synthetic data: Hit@1 in percent."
    assert lines[2].startswith("| Model | Overall | 95% interval | CV | Image to label |")
    assert lines[4].startswith("| strong | 80.0 (3 of 4) |")
    assert "| 80.0 (1 of 2) |" in lines[4]
    assert "| 80.0 |" in lines[4]
    assert lines[5].startswith("| weak | 10.0 (3 of 4) |")


def test_results_of_different_suites_do_not_stand_in_one_table():
    other = SuiteIdentity(slug="s", version="2", title="S", synthetic=True, manifest_sha256="c" * 64)
    with pytest.raises(ResultInvalid, match="different suites"):
        markdown_table([run_result(), run_result(suite=other)])


def test_a_changed_model_file_changes_the_fingerprint(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    before = find_model(str(tmp_path)).fingerprint()
    (tmp_path / "config.json").write_text('{"a": 1}')
    assert find_model(str(tmp_path)).fingerprint() != before


def test_an_adapter_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(ModelInvalid, match="hf download owner/adapter"):
        find_model(str(tmp_path), adapter="owner/adapter")


IDENTITY = {"model": "m", "suite_sha256": "s"}


def keep(out, *results, identity=None):
    with PartialResults(out, identity or IDENTITY) as partial:
        for result in results:
            partial.add(result)


def test_partial_results_are_taken_over_by_the_next_attempt(tmp_path):
    out = tmp_path / "result.json"
    keep(out, task_result("A"), task_result("B"))
    keep(out, task_result("C"))
    assert list(PartialResults(out, IDENTITY).completed) == ["A", "B", "C"]


def test_partial_results_of_another_model_are_dropped(tmp_path):
    out = tmp_path / "result.json"
    keep(out, task_result("A"))
    assert PartialResults(out, {"model": "other"}).completed == {}


def test_a_line_cut_short_by_the_interruption_is_dropped(tmp_path):
    out = tmp_path / "result.json"
    keep(out, task_result("A"), task_result("B"))
    path = out.with_name("result.json.partial")
    path.write_bytes(path.read_bytes()[:-20])
    assert list(PartialResults(out, IDENTITY).completed) == ["A"]
    keep(out, task_result("C"))
    assert list(PartialResults(out, IDENTITY).completed) == ["A", "C"]


def test_a_damaged_partial_file_is_named(tmp_path):
    out = tmp_path / "result.json"
    keep(out, task_result("A"))
    path = out.with_name("result.json.partial")
    path.write_text(path.read_text() + "{broken}\n")
    with pytest.raises(ResultInvalid, match=r"result\.json\.partial is damaged"):
        PartialResults(out, IDENTITY)

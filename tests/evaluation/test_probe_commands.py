"""Commands on a probing suite: real processes, real images, every kind of task."""

import json
import signal
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.embedders import tiny
from evaluation.embedders.chance import ChanceEmbedder
from evaluation.embedding.encode import embed_inputs
from evaluation.hashing import FileHashes
from evaluation.manifest import spec_sha256
from evaluation.probe_results import probe_result_from_json, probe_result_to_json
from evaluation.results import read_result
from evaluation.suites.medtec.loading import ProbeLoader
from evaluation.suites.medtec.suite import read_probe_suite
from evaluation.vocabulary import ProbeTaskKind
from tests.evaluation.test_processes import request, serve, start, until

MEASURED = ("seconds_embedding", "seconds_scoring", "peak_memory_bytes")


def invoke(*arguments, code=0):
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probing") / "demo"
    invoke("build", "medtec-demo", "--out", folder)
    return folder


@pytest.fixture(scope="module")
def chance_run(suite, tmp_path_factory):
    out = tmp_path_factory.mktemp("results") / "chance.json"
    output = invoke("run", "--model", "chance", "--suite", suite, "--out", out)
    return read_result(out), output


def scores(result):
    documents = [probe_result_to_json(task) for task in result.probe_tasks]
    return [{key: value for key, value in document.items() if key not in MEASURED} for document in documents]


def test_every_task_of_every_kind_is_scored(suite, chance_run):
    result, output = chance_run
    declared = read_probe_suite(suite)
    assert [task.task for task in result.probe_tasks] == [spec.name for spec in declared.tasks]
    assert [task.spec_sha256 for task in result.probe_tasks] == [spec_sha256(spec) for spec in declared.tasks]
    assert {task.kind for task in result.probe_tasks} == set(ProbeTaskKind)
    assert (result.tasks, result.failures, result.aggregates) == ((), (), ())
    assert result.suite.synthetic
    assert f"{len(declared.tasks)} tasks scored, 0 failed" in output
    assert "Ceilings" in output
    assert "synthetic data" in output


def test_texts_and_images_that_cells_share_are_embedded_once_in_a_run(chance_run):
    result, _ = chance_run
    assert result.embedding.inputs == sum(task.n_inputs for task in result.probe_tasks)
    unique = result.embedding.unique_inputs
    # an image of two anchor sets is embedded in the lot of each
    assert unique <= result.embedding.embedded < 1.02 * unique < result.embedding.inputs / 3


def test_guessing_passes_as_often_as_exchangeable_similarities_do(chance_run):
    """Over all cells, whose images differ: the pass rate is near its null."""
    result, _ = chance_run
    cells = [task for task in result.probe_tasks if task.kind is ProbeTaskKind.CELL]
    values = [{metric.name: metric.value for metric in task.metrics} for task in cells]
    gaps = [value["pass_rate"] - value["pass_rate_chance"] for value in values]
    assert abs(np.mean(gaps)) < 0.05
    assert all(value["ds"] < 0 for value in values)


def test_cells_of_one_anchor_set_have_one_scale(chance_run):
    result, _ = chance_run
    for modality in ("dermoscopy", "chest_radiograph"):
        scales = {
            float(task.arrays["scale"][0])
            for task in result.probe_tasks
            if task.kind is ProbeTaskKind.CELL and task.task.startswith(modality)
        }
        assert max(scales) - min(scales) < 1e-6


def test_a_model_without_images_fails_every_task_by_name(suite, tmp_path):
    out = tmp_path / "result.json"
    names = ["--tasks", "dermoscopy.L1", "--tasks", "chest_radiograph.L5"]
    invoke("run", "--model", "minilm", "--suite", suite, "--out", out, *names, code=1)
    result = read_result(out)
    assert [(failure.task, failure.code) for failure in result.failures] == [
        ("dermoscopy.L1", "input_unsupported"),
        ("chest_radiograph.L5", "input_unsupported"),
    ]


def test_a_text_that_the_model_would_cut_fails_its_task_alone(suite, tmp_path):
    """The tiny model reads 75 bytes, which labels fit in and some probes do not."""
    tiny.write_tiny_clip(tmp_path / "clip", 3)
    out = tmp_path / "result.json"
    names = ["--tasks", "dermoscopy.L5.ruled_out", "--tasks", "chest_radiograph.zero_shot"]
    invoke("run", "--model", tmp_path / "clip", "--suite", suite, "--out", out, *names)
    result = read_result(out)
    assert [task.task for task in result.probe_tasks] == ["chest_radiograph.zero_shot"]
    (failure,) = result.failures
    assert (failure.task, failure.code, failure.kind) == ("dermoscopy.L5.ruled_out", "probe_too_long", "model")
    assert "the first is" in failure.message


def test_a_killed_run_goes_on_where_it_ended_with_the_same_scores(suite, chance_run, tmp_path):
    out = tmp_path / "killed.json"
    with start("run", "--model", "chance", "--suite", suite, "--out", out) as process:
        assert process.stdout.readline().startswith("dermoscopy.L1: ds")
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert not out.exists()
    with start("run", "--model", "chance", "--suite", suite, "--out", out) as again:
        assert "(kept from an earlier attempt)" in again.stdout.read()
    assert again.returncode == 0
    assert scores(read_result(out)) == scores(chance_run[0])


def test_a_changed_image_is_refused(suite, tmp_path):
    folder = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(suite), str(folder)], check=True)
    (path,) = {spec.data_path for spec in read_probe_suite(folder).tasks if spec.name == "dermoscopy.L1"}
    image = folder / (folder / path).read_text().splitlines()[1].split(",")[5]
    image.write_bytes(image.read_bytes() + b"\0")
    out = tmp_path / "result.json"
    invoke("run", "--model", "chance", "--suite", folder, "--out", out, "--tasks", "dermoscopy.L1", code=1)
    (failure,) = read_result(out).failures
    assert failure.code == "record_invalid"
    assert image.name in failure.message


def test_the_served_child_answers_with_probing_results(suite, chance_run):
    with serve(suite) as child:
        until(child, "ready")
        request(child, type="evaluate", tasks=["chest_radiograph.L4", "nowhere", "chest_radiograph.retrieval"])
        received = [answer for answer in until(child, "idle") if answer["type"] != "progress"]
        assert [answer["type"] for answer in received] == ["task_result", "task_failed", "task_result", "idle"]
        assert received[1]["code"] == "task_unknown"
        first, second = (probe_result_from_json(received[number]["result"]) for number in (0, 2))
        assert (first.kind, second.kind) == (ProbeTaskKind.CELL, ProbeTaskKind.RETRIEVAL)
        expected = {task.task: task for task in chance_run[0].probe_tasks}
        assert first.metrics == expected["chest_radiograph.L4"].metrics
        request(child, type="stop")
        assert child.wait() == 0


def test_embeddings_made_elsewhere_give_the_same_scores(suite, chance_run, tmp_path):
    names = ("dermoscopy.L4", "chest_radiograph.zero_shot")
    options = [word for name in names for word in ("--tasks", name)]
    listed = [json.loads(line) for line in invoke("tasks", "--suite", suite, "--inputs", *options).splitlines()]
    specs = [spec for spec in read_probe_suite(suite).tasks if spec.name in names]
    vectors = {}
    for spec in specs:
        task = ProbeLoader(suite, FileHashes()).load(spec, takes_volumes=False)
        rows = embed_inputs(ChanceEmbedder(dimension=256, seed=42), task.inputs, batch_size=64)
        vectors |= dict(zip(task.keys, rows, strict=True))
    assert {line["id"] for line in listed} == set(vectors)
    np.savez(tmp_path / "given.npz", ids=np.array(list(vectors)), vectors=np.stack(list(vectors.values())))
    out = tmp_path / "result.json"
    invoke("score", "--embeddings", tmp_path / "given.npz", "--suite", suite, "--out", out, *options)
    expected = {task.task: task for task in chance_run[0].probe_tasks}
    for task in read_result(out).probe_tasks:
        assert task.metrics[0].value == pytest.approx(expected[task.task].metrics[0].value, abs=1e-6)
        assert "not known whether the model read every text" in task.warnings[-1]


def test_tasks_of_a_probing_suite_are_listed(suite):
    output = invoke("tasks", "--suite", suite)
    assert "chest_radiograph.L5.no_finding" in output
    assert "awaiting data" not in output

"""`run` with a store of vectors, and the threads that it computes with."""

import json
import os
import subprocess
import sys

import pytest
import torch
from typer.testing import CliRunner

from evaluation.__main__ import app
from evaluation.embedders.threads import MAX_THREADS, fix_threads
from tests.evaluation.suite_folders import write_text_suite

# Of three tasks: six queries that are the same in all of them, and seven candidates each, one of them its own.
EMBEDDED = 6 + 3 * 7


@pytest.fixture
def suite(tmp_path):
    write_text_suite(tmp_path / "suite", tasks=3)
    return tmp_path / "suite"


def run(suite, out, *options, model="minilm"):
    arguments = ["run", "--model", model, "--suite", suite, "--out", out, *options]
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return json.loads(out.read_text()), done.output


def scores(result):
    return [task["outcomes"] for task in result["tasks"]]


def test_a_rerun_takes_every_vector_from_the_store_with_the_same_scores(suite, tmp_path):
    first, said = run(suite, tmp_path / "1.json", "--store", tmp_path / "store")
    second, _ = run(suite, tmp_path / "2.json", "--store", tmp_path / "store")
    plain, _ = run(suite, tmp_path / "3.json")
    assert first["embedding"]["embedded"] == EMBEDDED
    assert first["embedding"]["inputs"] == sum(task["n_inputs"] for task in first["tasks"])
    assert first["embedding"]["inputs"] > first["embedding"]["unique_inputs"]
    assert second["embedding"] == {**first["embedding"], "embedded": 0, "embedder_calls": 0, "padding_waste": 0}
    assert scores(first) == scores(second) == scores(plain)
    assert f"{first['embedding']['unique_inputs']} different" in said


def test_a_damaged_store_is_reported_in_the_result(suite, tmp_path):
    store = tmp_path / "store"
    first, _ = run(suite, tmp_path / "1.json", "--store", store)
    (store / "embeddings-1.sqlite3").write_bytes(b"no longer a database" * 500)
    second, said = run(suite, tmp_path / "2.json", "--store", store)
    assert second["embedding"]["damaged_entries"] == 1
    assert second["embedding"]["embedded"] == first["embedding"]["embedded"]
    assert "damaged" in said
    assert scores(first) == scores(second)


def test_another_model_finds_nothing_in_the_store(suite, tmp_path):
    run(suite, tmp_path / "1.json", "--store", tmp_path / "store")
    result, _ = run(suite, tmp_path / "2.json", "--store", tmp_path / "store", model="chance")
    assert result["embedding"]["embedded"] == EMBEDDED


def test_a_store_that_cannot_be_kept_is_one_sentence(suite, tmp_path):
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "evaluation", "run", "--model", "chance", "--suite", suite]
    command += ["--out", tmp_path / "r.json", "--store", tmp_path / "file" / "store"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("store_unavailable: ")
    assert "Traceback" not in done.stderr


def serve_once(command):
    """The answers to one request for three tasks, and what the child says on standard error."""
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as child:
        child.stdin.write(json.dumps({"type": "evaluate", "tasks": ["Task0", "Task1", "Task2"]}) + "\n")
        child.stdin.flush()
        answers = []
        while not answers or answers[-1]["type"] not in ("idle", "failed"):
            answers.append(json.loads(child.stdout.readline()))
        _, errors = child.communicate('{"type": "stop"}\n', timeout=120)
    return answers, errors


def test_a_served_child_shares_the_store_and_says_what_it_took(suite, tmp_path):
    command = [sys.executable, "-m", "evaluation", "serve", "--model", "chance", "--suite", str(suite)]
    command += ["--store", str(tmp_path / "store"), "--store-bytes", "1000000"]
    told, scored = [], []
    for _ in range(2):
        answers, errors = serve_once(command)
        scored.append([a["result"]["outcomes"] for a in answers if a["type"] == "task_result"])
        told.append(next(line for line in errors.splitlines() if "model calls" in line))
    assert len(scored[0]) == 3
    assert scored[0] == scored[1]
    assert " 0 embedded; 0 model calls" not in told[0]
    assert " 0 embedded; 0 model calls" in told[1]


def test_threads_are_few_and_recorded(suite, tmp_path):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(MAX_THREADS + 3)
        assert fix_threads() == MAX_THREADS == torch.get_num_threads()
        torch.set_num_threads(1)
        result, _ = run(suite, tmp_path / "1.json")
        assert result["environment"]["threads"] == 1
    finally:
        torch.set_num_threads(before)


def test_threads_follow_omp_num_threads_and_torch_is_not_loaded_for_their_sake():
    code = (
        "import sys; from evaluation.embedders.threads import fix_threads; print(fix_threads(), 'torch' in sys.modules);"
        "import torch; print(fix_threads())"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment, timeout=120
    )
    assert done.stdout.split() == ["1", "False", "1"]

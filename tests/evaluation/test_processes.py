"""Real child processes: a run that is killed and started again, and the child that serves a worker."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.results import read_result, task_result_from_json, task_result_to_json
from tests.evaluation.suite_folders import write_text_suite

ROOT = Path(__file__).parents[2]
MEASURED = ("seconds_embedding", "seconds_ranking", "peak_memory_bytes")


def start(*arguments, **options):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "evaluation", *(str(argument) for argument in arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, **options)


def scores(path):
    documents = [task_result_to_json(task) for task in read_result(path).tasks]
    return [{key: value for key, value in document.items() if key not in MEASURED} for document in documents]


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    write_text_suite(folder, tasks=8, queries=40)
    return folder


def test_a_killed_run_goes_on_where_it_ended_with_the_same_scores(suite, tmp_path):
    killed, undisturbed = tmp_path / "killed.json", tmp_path / "undisturbed.json"
    with start("run", "--model", "chance", "--suite", suite, "--out", killed) as process:
        assert process.stdout.readline().startswith("Task0: Hit@1")
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert not killed.exists()
    with start("run", "--model", "chance", "--suite", suite, "--out", killed) as again:
        output = again.stdout.read()
    assert again.returncode == 0
    assert "(kept from an earlier attempt)" in output
    assert "8 tasks scored" in output
    with start("run", "--model", "chance", "--suite", suite, "--out", undisturbed) as whole:
        assert "(kept from an earlier attempt)" not in whole.stdout.read()
    assert scores(killed) == scores(undisturbed)
    assert read_result(killed).aggregates == read_result(undisturbed).aggregates


def answers(process):
    return (json.loads(line) for line in process.stdout)


def until(process, kind):
    received = []
    for answer in answers(process):
        received.append(answer)
        if answer["type"] == kind:
            break
    return received


def request(process, **message):
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()


def serve(suite, *extra):
    return start("serve", "--model", "chance", "--suite", suite, *extra, stdin=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_served_child_answers_requests_and_stops(suite):
    with serve(suite) as child:
        (ready,) = until(child, "ready")
        assert ready["protocol"] == 1
        assert ready["model"]["family"] == "chance"
        assert ready["environment"]["python"]
        request(child, type="evaluate", tasks=["Task1", "Nowhere", "Task0"])
        received = until(child, "idle")
        kinds = [answer["type"] for answer in received if answer["type"] != "progress"]
        assert kinds == ["task_result", "task_failed", "task_result", "idle"]
        results = [task_result_from_json(answer["result"]) for answer in received if answer["type"] == "task_result"]
        assert [result.task for result in results] == ["Task1", "Task0"]
        (failed,) = [answer for answer in received if answer["type"] == "task_failed"]
        assert (failed["task"], failed["code"], failed["kind"]) == ("Nowhere", "task_unknown", "data")
        progress = [answer for answer in received if answer["type"] == "progress"]
        assert {answer["stage"] for answer in progress} == {"embedding", "ranking"}
        assert all(0 <= answer["done"] <= answer["total"] for answer in progress)
        request(child, type="stop")
        assert child.stdout.read() == ""
        assert child.wait() == 0


def test_the_served_child_ends_when_its_worker_is_gone(suite):
    with serve(suite) as child:
        until(child, "ready")
        child.stdin.close()
        assert child.stdout.read() == ""
        assert child.wait() == 0


def test_work_in_hand_is_given_up_when_the_worker_is_gone(suite):
    with serve(suite) as child:
        until(child, "ready")
        request(child, type="evaluate", tasks=[f"Task{number}" for number in range(8)] * 200)
        until(child, "progress")
        child.stdin.close()
        rest = [json.loads(line)["type"] for line in child.stdout]
        assert child.wait() == 0
        assert "idle" not in rest


@pytest.mark.parametrize("line", ["nonsense", '{"type": "evaluate"}', '{"type": "evaluate", "tasks": "Task0"}', "[1]"])
def test_a_line_that_is_no_request_ends_the_child_with_a_reason(suite, line):
    with serve(suite) as child:
        until(child, "ready")
        child.stdin.write(line + "\n")
        child.stdin.flush()
        (failed,) = until(child, "failed")
        assert failed["code"] == "request_invalid"
        assert child.wait() == 1


def test_a_model_that_cannot_be_loaded_is_a_failed_answer(suite, tmp_path):
    with start("serve", "--model", tmp_path, "--suite", suite, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        (failed,) = until(child, "failed")
        assert (failed["code"], failed["kind"]) == ("model_invalid", "model")
        assert child.wait() == 1


def test_whatever_else_is_printed_goes_to_standard_error(suite):
    """sitecustomize stands for a library that prints, in Python and below it."""
    noise = suite / "noise"
    noise.mkdir()
    (noise / "sitecustomize.py").write_text(
        "import atexit, os\n"
        "atexit.register(lambda: (print('noise from python', flush=True), os.write(1, b'noise from below\\n')))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(noise), str(ROOT)])}
    command = [sys.executable, "-m", "evaluation", "serve", "--model", "chance", "--suite", str(suite)]
    done = subprocess.run(command, cwd=ROOT, env=environment, input="", text=True, capture_output=True, check=True)
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["ready"]
    assert "noise from python" in done.stderr
    assert "noise from below" in done.stderr


def test_no_command_loads_a_model_framework_before_it_needs_one():
    program = "import sys, evaluation.__main__; print([name for name in ('torch', 'transformers', 'peft') if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.strip() == "[]"

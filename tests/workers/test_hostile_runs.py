"""Whole runs whose child means harm: the worker goes on, every task says what was wrong, and nothing false is stored."""

import base64
import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluation.embedders.tiny import write_tiny_clip
from evaluation.suites.demo.suite import build_demo
from leaderboard.models import Run, Score, Suite, TaskRun
from leaderboard.models.vocabulary import RunState, TaskRunState
from leaderboard.ports import model_hub
from leaderboard.services.submissions import submission_create
from tests.factories import make_user
from tests.workers.hostile_child import READY
from tests.workers.sandboxes import LIMITS, PROGRAM, hostile_order
from workers import orders
from workers.catalogue import sync_catalogue
from workers.child import EvaluatingChild
from workers.child_errors import ChildError
from workers.enclosures import Evaluation, evaluating_enclosure
from workers.identity import worker_identity
from workers.local_hub.server import running_hub
from workers.runner import work_until_idle
from workers.sandbox.choice import SANDBOXES
from workers.sandbox.places import python_program

N_TASKS = 2
RESULT = {
    "task": "TASK", "spec_sha256": "SPEC", "data_sha256": "0" * 64, "chance": 0.5, "hit_at_1_optimistic": 1.0,
    "hit_at_1_pessimistic": 1.0, "n_queries": 1, "outcomes": "", "self_excluded": 0, "n_inputs": 1,
    "seconds_embedding": 0.0, "seconds_ranking": 0.0, "peak_memory_bytes": 0,
    "metrics": [{"name": "hit@1", "value": 1.0, "lower": 1.0, "upper": 1.0}],
}  # fmt: skip
# Record 0; no candidate above, none tied, one relevant, of a pool of two.
OUTCOMES = base64.b64encode(zlib.compress(np.array([0, 0, 0, 1, 2], "<i4").tobytes())).decode()


@pytest.fixture(scope="module")
def board_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("board")
    (folder / "suites").mkdir()
    build_demo(folder / "suites" / "medheb-demo")
    write_tiny_clip(folder / "hub" / "demo" / "clip-tiny", seed=1)
    return folder


@pytest.fixture
def run(board_folder: Path, tmp_path: Path, transactional_db: None, settings: Any) -> Iterator[Run]:
    """A queued run of two tasks, and a worker's settings for it."""
    settings.SUITES_DIR = board_folder / "suites"
    settings.MODEL_CACHE_DIR = board_folder / "models"
    settings.EMBEDDING_STORE_DIR = tmp_path / "embeddings"
    settings.DATA_DIR = tmp_path / "data"
    with running_hub(board_folder / "hub") as hub:
        settings.HUB_ENDPOINT = hub.endpoint
        sync_catalogue()
        suite = Suite.objects.get(slug="medheb-demo")
        kept = suite.tasks.filter(is_installed=True).order_by("position").values_list("pk", flat=True)[:N_TASKS]
        suite.tasks.exclude(pk__in=list(kept)).update(is_installed=False)
        report = model_hub().preflight(repo_id="demo/clip-tiny")
        assert report.passed, report.problems
        yield submission_create(submitter=make_user(), report=report, suite=suite).runs.get()


def evaluate(run: Run, monkeypatch: pytest.MonkeyPatch, mode: str, **parameters: Any) -> list[TaskRun]:
    """Work on the run with a hostile program in the place of the evaluating child; its tasks afterwards.

    `SPEC` in what it says stands for the digest of the first task.
    """
    spec = run.task_runs.order_by("task__position").first().task.spec_sha256

    def hostile(evaluation: Evaluation, limits: object) -> object:
        honest = evaluating_enclosure(evaluation, LIMITS)
        given = json.dumps({"store": str(evaluation.store), **parameters}).replace("SPEC", spec)
        command = (python_program(), "-I", "-S", str(PROGRAM), mode, given)
        return replace(honest, command=command, read_only=(*honest.read_only, PROGRAM))

    monkeypatch.setattr(orders, "evaluating_enclosure", hostile)
    for _ in range(4 * N_TASKS):
        work_until_idle(worker_identity())
    run.refresh_from_db()
    return list(run.task_runs.order_by("task__position"))


def assert_failed(run: Run, tasks: list[TaskRun], *, code: str, kind: str) -> None:
    assert len(tasks) == N_TASKS
    assert {(task.state, task.error_code, task.error_kind) for task in tasks} == {(TaskRunState.FAILED, code, kind)}
    assert {task.lease_owner for task in tasks} == {""}
    assert (run.state, run.error_code, run.lease_owner) == (RunState.FAILED, code, "")
    assert not Score.objects.filter(task_run__run=run).exists()


def lie(**changes: Any) -> list[str]:
    return [json.dumps({"type": "task_result", "result": RESULT | changes})]


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (['{"type": "progress", "task": "TASK"}'], "'stage' is a required property"),
        (['{"type": "idle"}'], "'idle' that is not about the task in turn"),
        (lie(spec_sha256="0" * 64), "a task that is declared otherwise"),
        (lie(chance=2), "2 is greater than the maximum of 1"),
        (lie(n_queries=5), "outcomes do not hold"),
        (lie(outcomes=OUTCOMES, peak_memory_bytes=2**70), "the database cannot hold it"),
    ],
)
def test_a_child_that_lies_fails_its_tasks(
    run: Run, monkeypatch: pytest.MonkeyPatch, lines: list[str], reason: str
) -> None:
    tasks = evaluate(run, monkeypatch, "lie", lines=lines)
    assert_failed(run, tasks, code="answer_invalid", kind="model")
    assert "broke the protocol" in tasks[0].error_message
    assert re.search(reason, tasks[0].error_message)


BROKEN_BOUNDS = {
    "flood_one_line": ("answer_invalid", "model"),
    "flood_log": ("output_limit", "limit"),
    "hang": ("time_limit", "limit"),
    "exit_at_once": ("worker_lost", "infrastructure"),
    "allocate": ("worker_lost", "infrastructure"),
}


@pytest.mark.parametrize("mode", BROKEN_BOUNDS)
def test_a_child_that_breaks_bounds_fails_its_tasks(
    run: Run, monkeypatch: pytest.MonkeyPatch, settings: Any, mode: str
) -> None:
    settings.TASK_TIMEOUT_SECONDS = 2 if mode == "hang" else 60
    code, kind = BROKEN_BOUNDS[mode]
    assert_failed(run, evaluate(run, monkeypatch, mode), code=code, kind=kind)


def test_a_child_that_lies_before_it_is_ready_fails_the_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    model = {**READY["model"], "family": "x" * 500}
    evaluate(run, monkeypatch, "lie_at_once", lines=[json.dumps({**READY, "model": model})])
    assert (run.state, run.error_code, run.error_kind) == (RunState.FAILED, "answer_invalid", "model")


CANARY = "from pathlib import Path\nPath({path!r}).touch()\n"
CODE_FILES = (
    "modeling_clip.py", "configuration_clip.py", "tokenization_clip.py", "processing_clip.py", "setup.py",
    "conftest.py", "sitecustomize.py", "usercustomize.py", "__init__.py", "torch.py", "numpy.py", "json.py",
)  # fmt: skip


@pytest.mark.parametrize("auto_map", [False, True])
def test_no_code_of_a_repository_is_ever_imported(tmp_path: Path, auto_map: bool, settings: Any) -> None:  # noqa: FBT001 - pytest's
    """Without a sandbox, which would hide the traces."""
    settings.SANDBOX = "none"
    model, canary = tmp_path / "clip", tmp_path / "canary"
    write_tiny_clip(model, seed=1)
    build_demo(tmp_path / "suite")
    for name in CODE_FILES:
        (model / name).write_text(CANARY.format(path=str(canary)))
    subprocess.run([sys.executable, "-I", str(model / CODE_FILES[0])], check=True)
    canary.unlink()  # a canary that cannot sing tells nothing
    if auto_map:
        config = json.loads((model / "config.json").read_text())
        config["auto_map"] = {"AutoModel": "modeling_clip.Model", "AutoConfig": "configuration_clip.Config"}
        (model / "config.json").write_text(json.dumps(config))
    order = replace(hostile_order(tmp_path, SANDBOXES["none"](), "hang", {}), timeout_seconds=120)
    evaluation = Evaluation(
        model=model, adapter=None, encode_config="", suite=tmp_path / "suite", device="cpu",
        store=order.enclosure.writable, store_bytes=10_000_000,
    )  # fmt: skip
    limits = replace(LIMITS, memory_bytes=4 << 30)
    task = json.loads((tmp_path / "suite" / "suite.json").read_text())["tasks"][0]["name"]
    with EvaluatingChild(replace(order, enclosure=evaluating_enclosure(evaluation, limits))) as child:
        if auto_map:
            with pytest.raises(ChildError) as refused:
                child.wait_until_ready()
            assert refused.value.code == "own_code"
        else:
            child.wait_until_ready()
            assert [message["type"] for message in child.evaluate([task])][-1] == "task_result"
    assert not canary.exists()

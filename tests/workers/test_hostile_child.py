"""A child that lies, floods, hangs or takes too much is found out by the worker, and ended."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.workers.hostile_child import READY
from tests.workers.sandboxes import LIMITS, MIB, SEALING, hostile_order, usable
from workers.child import EvaluatingChild
from workers.child_errors import ChildError, ChildLost, ChildMisbehaved
from workers.child_log import HEAD_BYTES, TAIL_BYTES
from workers.sandbox.bubblewrap import Bubblewrap
from workers.sandbox.choice import chosen_sandbox
from workers.sandbox.protocol import Limits


def caught(
    folder: Path,
    mode: str,
    *,
    sandbox: str = "auto",
    limits: Limits = LIMITS,
    timeout_seconds: float = 60,
    **given: Any,
) -> Exception:
    """What a worker that asks a hostile child for two tasks gets to know; the child is gone by then."""
    chosen = chosen_sandbox(sandbox) if sandbox == "auto" else usable(sandbox)
    tasks = given.pop("tasks", ["first"])
    order = hostile_order(folder, chosen, mode, given, limits=limits, timeout_seconds=timeout_seconds)
    with EvaluatingChild(order) as child:
        try:
            child.wait_until_ready()
            for _ in child.evaluate(tasks):
                pass
        except (ChildError, ChildLost) as error:
            found = error
        else:
            found = AssertionError("the child got away with it")
        process = child._running()
    assert process.poll() is not None
    return found


@pytest.mark.parametrize("mode", ["hang", "hang_with_progress"])
def test_a_child_that_hangs_is_ended(mode: str, tmp_path: Path) -> None:
    error = caught(tmp_path, mode, timeout_seconds=3)
    assert isinstance(error, ChildMisbehaved)
    assert (error.code, error.kind) == ("time_limit", "limit")


@pytest.mark.parametrize(
    ("mode", "code", "kind"),
    [
        ("garbage", "answer_invalid", "model"),
        ("flood_one_line", "answer_invalid", "model"),
        ("flood_progress", "answer_invalid", "model"),
        ("flood_log", "output_limit", "limit"),
        ("fill_store", "disk_limit", "limit"),
    ],
)
def test_a_child_that_floods_is_ended(
    mode: str, code: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.child.MOST_PROGRESS_MESSAGES", 20_000)
    monkeypatch.setattr("workers.child._STORE_SLACK", 8 * MIB)
    error = caught(tmp_path, mode)
    assert isinstance(error, ChildMisbehaved)
    assert (error.code, error.kind) == (code, kind)
    assert (tmp_path / "child.log").stat().st_size < HEAD_BYTES + TAIL_BYTES + 100


@pytest.mark.parametrize("sandbox", SEALING)
def test_a_process_that_allocates_without_end_is_refused_by_the_kernel(sandbox: str, tmp_path: Path) -> None:
    error = caught(tmp_path, "allocate", sandbox=sandbox, limits=replace(LIMITS, memory_bytes=128 * MIB))
    assert isinstance(error, ChildLost)
    assert "MemoryError" in (tmp_path / "child.log").read_text()


@pytest.mark.parametrize("sandbox", SEALING)
def test_processes_that_together_take_too_much_memory_are_ended(sandbox: str, tmp_path: Path) -> None:
    error = caught(
        tmp_path, "allocate_in_many", sandbox=sandbox, limits=replace(LIMITS, memory_bytes=96 * MIB), piece=48 * MIB
    )
    assert isinstance(error, ChildMisbehaved)
    assert (error.code, error.kind) == ("out_of_memory", "limit")
    assert "0.09 GiB" in error.message


def test_a_child_that_ends_without_results_is_lost(tmp_path: Path) -> None:
    error = caught(tmp_path, "exit_at_once")
    assert isinstance(error, ChildLost)
    assert "status 0" in str(error)


RESULT = '{"type": "task_result", "result": {"task": "TASK"}}'
FAILED = '{"type": "task_failed", "task": "TASK", "code": "a", "kind": "data", "message": "m"}'
PROGRESS = '{"type": "progress", "task": "TASK", "stage": "embedding", "done": 1, "total": 2}'
IDLE = '{"type": "idle"}'


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([IDLE], "'idle' that is not about the task in turn"),
        ([RESULT.replace("TASK", "other")], "'task_result' that is not about the task in turn"),
        ([RESULT, RESULT], "'task_result' that is not about the task in turn"),
        ([FAILED, RESULT], "'task_result' that is not about the task in turn"),
        ([PROGRESS.replace("TASK", "second")], "'progress' that is not about the task in turn"),
        ([RESULT, RESULT.replace("TASK", "second"), RESULT], "'task_result' where 'idle' was due"),
        ([json.dumps(READY)], "'ready' that is not about the task in turn"),
    ],
)
def test_answers_out_of_order_are_lies(lines: list[str], reason: str, tmp_path: Path) -> None:
    error = caught(tmp_path, "lie", lines=lines, tasks=["first", "second"])
    assert isinstance(error, ChildMisbehaved)
    assert reason in error.message


def test_work_before_ready_is_a_lie(tmp_path: Path) -> None:
    error = caught(tmp_path, "lie_at_once", lines=[IDLE])
    assert isinstance(error, ChildMisbehaved)
    assert "'idle' where 'ready' was due" in error.message


def test_what_the_child_says_of_itself_is_passed_on(tmp_path: Path) -> None:
    line = '{"type": "failed", "code": "model_invalid", "kind": "model", "message": "damaged"}'
    error = caught(tmp_path, "lie_at_once", lines=[line])
    assert type(error) is ChildError
    assert (error.code, error.kind, error.message) == ("model_invalid", "model", "damaged")


def test_a_child_that_cannot_be_started_is_a_typed_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = hostile_order(tmp_path, chosen_sandbox("none"), "hang", {})
    missing = replace(order, enclosure=replace(order.enclosure, command=(str(tmp_path / "missing"),)))
    with pytest.raises(ChildError) as refused, EvaluatingChild(missing):
        pass
    assert (refused.value.code, refused.value.kind) == ("child_not_started", "infrastructure")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ChildError) as refused, EvaluatingChild(replace(order, sandbox=Bubblewrap())):
        pass
    assert (refused.value.code, refused.value.kind) == ("sandbox_unavailable", "infrastructure")

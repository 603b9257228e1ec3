"""`serve` evaluates tasks for a worker: requests on standard input, answers on standard output, all else to stderr.

The shapes of the messages are in `evaluation.messages`. When the worker closes standard input, or asks to stop, the
work in hand is given up after the current batch: nobody is left to read its result.
"""

import io
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import IO, Annotated, Any

import typer

from evaluation.commands.encoding import ModelEncoding, StoreLocation, statistics_line
from evaluation.commands.models_to_run import find_model
from evaluation.commands.opening import open_suite
from evaluation.commands.options import (
    STORE_BYTES,
    AdapterOption,
    DeviceOption,
    EncodeConfigOption,
    StoreBytesOption,
    StoreOption,
    SuiteOption,
)
from evaluation.commands.suites_to_run import Outcome, SuiteToRun, VectorSource
from evaluation.embedders.threads import fix_threads
from evaluation.embedding.memory import unexpected_failure
from evaluation.embedding.text_limit import TextLimit
from evaluation.environment import describe_environment
from evaluation.errors import EvaluationError, RequestInvalid, TaskUnknown
from evaluation.evaluators.session import AnySpec, Stage
from evaluation.messages import PROTOCOL_VERSION
from evaluation.results import any_result_to_json, description_to_json, failure_to_json
from evaluation.types import EmbeddingStatistics, TaskFailure

_SECONDS_BETWEEN_PROGRESS = 0.2


def serve(
    *,
    model: Annotated[str, typer.Option("--model", help="Folder of a model, 'minilm', or 'chance'.")],
    suite: SuiteOption,
    adapter: AdapterOption = "",
    device: DeviceOption = "cpu",
    encode_config: EncodeConfigOption = "",
    store: StoreOption = None,
    store_bytes: StoreBytesOption = STORE_BYTES,
) -> None:
    """Evaluate tasks on request: JSON lines in, JSON lines out. For workers, not for people."""
    answers = Answers(_private_stdout())
    try:
        opened = open_suite(suite)
        chosen = replace(find_model(model, adapter=adapter), encode_config=encode_config)
        embedder = chosen.load(device)
        location = StoreLocation(store, store_bytes) if store else None
        with ModelEncoding(chosen, embedder, device=device, location=location) as encoding:
            answers.send(
                "ready",
                protocol=PROTOCOL_VERSION,
                model=description_to_json(embedder.description),
                environment=describe_environment(device, threads=fix_threads()),
            )
            requests = Requests(io.FileIO(sys.stdin.fileno(), closefd=False))
            source = VectorSource(encoding.store, embedder.description, TextLimit(embedder))
            Service(opened, source, encoding.statistics, requests, answers).run()
    except EvaluationError as error:
        answers.send("failed", code=error.code, kind=error.kind, message=error.message)
        raise typer.Exit(code=1) from error
    except Exception as error:
        failure = unexpected_failure(error)
        answers.send("failed", code=failure.code, kind=failure.kind, message=failure.message)
        raise


class WorkerGone(BaseException):
    """Standard input was closed or a stop was asked for while a task was in work: no failure of the task."""


class Answers:
    """Writes messages, one a line, at once."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def send(self, kind: str, /, **fields: Any) -> None:
        """Write one message."""
        self._stream.write(json.dumps({"type": kind, **fields}, allow_nan=False) + "\n")
        self._stream.flush()


class Requests:
    """Reads requests in a thread of its own, so that the end of standard input is seen while a task is in work.

    The stream is unbuffered: a thread that waits in a buffered one would hold a lock that Python needs to exit.
    """

    def __init__(self, stream: io.FileIO) -> None:
        self._stream = stream
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def next_tasks(self) -> list[str] | None:
        """The names of the next request, or None when there is nothing more to do.

        Raises:
            RequestInvalid: the line is no request.
        """
        line = self._lines.get()
        return None if line is None else _requested_tasks(line)

    def _read(self) -> None:
        for line in self._stream:
            if _is_stop(line):
                break
            self._lines.put(line)
        self.ended.set()
        self._lines.put(None)


class Service:
    """Answers requests until there are no more."""

    def __init__(
        self,
        suite: SuiteToRun,
        source: VectorSource,
        statistics: Callable[[], EmbeddingStatistics],
        requests: Requests,
        answers: Answers,
    ) -> None:
        self._suite = suite
        self._source = source
        self._statistics = statistics
        self._requests = requests
        self._answers = answers
        self._last_progress = 0.0

    def run(self) -> None:
        """Serve until standard input ends."""
        try:
            while (names := self._requests.next_tasks()) is not None:
                self._evaluate(names)
                sys.stderr.write(f"{statistics_line(self._statistics())}\n")
                self._answers.send("idle")
        except (WorkerGone, BrokenPipeError):
            return

    def _evaluate(self, names: list[str]) -> None:
        for name in names:
            try:
                for outcome in self._suite.outcomes(
                    [name], source=self._source, on_progress=self._on_progress, completed={}
                ):
                    self._send_outcome(outcome)
            except TaskUnknown as error:
                self._send_outcome(TaskFailure(task=name, code=error.code, kind=error.kind, message=error.message))

    def _send_outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, TaskFailure):
            self._answers.send("task_failed", **failure_to_json(outcome))
        else:
            self._answers.send("task_result", result=any_result_to_json(outcome))

    def _on_progress(self, spec: AnySpec, stage: Stage, done: int, total: int) -> None:
        if self._requests.ended.is_set():
            raise WorkerGone
        now = time.monotonic()
        if done in (0, total) or now - self._last_progress >= _SECONDS_BETWEEN_PROGRESS:
            self._last_progress = now
            self._answers.send("progress", task=spec.name, stage=stage, done=done, total=total)


def _private_stdout() -> IO[str]:
    """Standard output for messages alone: whatever else writes to descriptor 1, even from C, goes to stderr."""
    private = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(private, "w", encoding="utf-8")


def _requested_tasks(line: bytes) -> list[str]:
    try:
        request = json.loads(line)
    except ValueError as error:
        raise RequestInvalid(f"This is not JSON: {line[:200]!r}.") from error
    names = request.get("tasks") if isinstance(request, dict) and set(request) == {"type", "tasks"} else None
    if not isinstance(names, list) or request["type"] != "evaluate" or not all(isinstance(name, str) for name in names):
        raise RequestInvalid(f"This is no request: {line[:200]!r}. Send evaluate with tasks, or stop.")
    return names


def _is_stop(line: bytes) -> bool:
    try:
        return bool(json.loads(line) == {"type": "stop"})
    except ValueError:
        return False

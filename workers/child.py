"""The evaluating child process, seen from the worker: requests in, checked messages out.

`evaluation.messages` describes the protocol, `workers.child_messages` checks it, `workers.sandbox` seals the child off.
"""

import contextlib
import json
import logging
import queue
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluation.errors import ErrorKind
from workers.child_errors import ChildError, ChildLost, ChildMisbehaved
from workers.child_log import BoundedLog
from workers.child_messages import MAX_LINE_BYTES, checked_message, misbehaved
from workers.sandbox.protocol import Enclosure, Sandbox, SandboxUnavailable
from workers.sealed_process import end_sealed, start_sealed
from workers.watch import Allowance, Watch

MOST_LOG_BYTES = 64 * 1024 * 1024
MOST_PROGRESS_MESSAGES = 1_000_000
"""About one task."""
_LINES_AHEAD = 2
_MOST_SHARE_OF_STORE = 1.25
_STORE_SLACK = 1 << 28
_SECONDS_BETWEEN_PROGRESS = 0.1
_SECONDS_BETWEEN_DRAINS = 0.05
_SECONDS_TO_END = 10.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """What a child is started on.

    Attributes:
        enclosure: its command, and what that may see and use.
        sandbox: how it is sealed off.
        store_bytes: what its folder may hold; it keeps to this by itself, and is ended when it holds far more.
        log: the file that gets what it prints for people.
        timeout_seconds: the most time for loading the model, and for any one task.
    """

    enclosure: Enclosure
    sandbox: Sandbox
    store_bytes: int
    log: Path
    timeout_seconds: float


class EvaluatingChild:
    """A running `python -m evaluation serve`; a context manager that always ends it.

    Raises:
        ChildError: on entering, when it cannot be started, or not be sealed off as ordered.
    """

    def __init__(self, order: ChildOrder) -> None:
        self._order = order
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=_LINES_AHEAD)
        self._process: subprocess.Popen[bytes] | None = None
        self._threads: list[threading.Thread] = []
        self._watch: Watch | None = None
        self._verdict: ChildMisbehaved | None = None
        self._deadline = 0.0

    def __enter__(self) -> Self:
        try:
            self._start()
        except SandboxUnavailable as error:
            raise ChildError(
                code="sandbox_unavailable", kind=ErrorKind.INFRASTRUCTURE, message=f"The worker seals nothing: {error}"
            ) from error
        except OSError as error:
            raise ChildError(
                code="child_not_started",
                kind=ErrorKind.INFRASTRUCTURE,
                message=f"The evaluating process could not be started: {error.strerror}. See the worker's disk and memory.",
            ) from error
        return self

    def _start(self) -> None:
        enclosure, sandbox = self._order.enclosure, self._order.sandbox
        self._process = start_sealed(sandbox, enclosure)
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._keep_log)]
        for thread in self._threads:
            thread.start()
        folder_bytes = int(_MOST_SHARE_OF_STORE * self._order.store_bytes) + _STORE_SLACK
        allowance = Allowance(enclosure.limits.memory_bytes, enclosure.writable, folder_bytes)
        self._watch = Watch(self._process.pid, allowance, self._end_for)
        self._watch.start()
        self._start_clock()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        process = self._running()
        if self._watch is not None:
            self._watch.stop()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it may have ended first
                process.stdin.close()
        self.kill()
        process.wait()
        self._finish_reading()

    def kill(self) -> None:
        """End the child at once; waiting for its messages then raises `ChildLost`."""
        if self._process is not None:
            end_sealed(self._process)

    def wait_until_ready(self) -> dict[str, Any]:
        """The child's description of what it loaded.

        Raises:
            ChildError: the model cannot be loaded.
            ChildMisbehaved: the child broke the protocol, or took more than it may.
            ChildLost: the child ended without a word.
        """
        message = self._next()
        if message["type"] != "ready":
            raise self._caught(misbehaved(f"it sent {message['type']!r} where 'ready' was due"))
        self._start_clock()
        return message

    def evaluate(self, tasks: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Send tasks and yield the child's messages until it is idle.

        Of each task asked for comes one result or failure, in the order asked, with progress before it.

        Raises:
            ChildError: the child cannot go on.
            ChildMisbehaved: the child broke the protocol, or took more than it may.
            ChildLost: the child ended.
        """
        self._send({"type": "evaluate", "tasks": list(tasks)})
        for task in tasks:
            self._start_clock()
            yield from self._messages_about(task)
        self._start_clock()
        if (message := self._next())["type"] != "idle":
            raise self._caught(misbehaved(f"it sent {message['type']!r} where 'idle' was due"))

    def _messages_about(self, task: str) -> Iterator[dict[str, Any]]:
        """What comes until a task is done; progress that comes too fast to be of use is left out."""
        shown = float("-inf")
        for _ in range(MOST_PROGRESS_MESSAGES):
            message = self._next()
            if _task_of(message) != task:
                raise self._caught(misbehaved(f"it sent {message['type']!r} that is not about the task in turn"))
            if message["type"] != "progress":
                yield message
                return
            if time.monotonic() - shown >= _SECONDS_BETWEEN_PROGRESS:
                shown = time.monotonic()
                yield message
        raise self._caught(misbehaved("it reported progress without end"))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ChildLost("the child was not started")
        return self._process

    def _send(self, message: dict[str, Any]) -> None:
        stdin = self._running().stdin
        if stdin is None:
            raise ChildLost("the child has no input")
        try:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError as error:
            raise ChildLost("the child ended before it was asked") from error

    def _start_clock(self) -> None:
        self._deadline = time.monotonic() + self._order.timeout_seconds

    def _next(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=max(0.0, self._deadline - time.monotonic()))
        except queue.Empty as error:
            raise self._caught(_too_slow(self._order.timeout_seconds)) from error
        if line is None:
            raise self._end()
        try:
            message = checked_message(line)
        except ChildMisbehaved as error:
            raise self._caught(error) from error
        if message["type"] == "failed":
            raise ChildError(code=message["code"], kind=message["kind"], message=message["message"])
        return message

    def _caught(self, error: ChildMisbehaved) -> ChildMisbehaved:
        """An error of a child that is ended for it."""
        self.kill()
        return error

    def _end(self) -> Exception:
        """Why there are no more lines."""
        self.kill()
        status = self._running().wait()
        return self._verdict or ChildLost(f"the child ended with status {status}; its log is {self._order.log.name}")

    def _end_for(self, verdict: ChildMisbehaved) -> None:
        """End the child from another thread; whoever waits for its messages gets the verdict."""
        self._verdict = self._verdict or verdict
        self.kill()

    def _read(self) -> None:
        """Pass the child's lines on; None stands for its end. A line without an end that is long is passed on too."""
        stdout = self._running().stdout
        if stdout is not None:
            while line := stdout.readline(MAX_LINE_BYTES):
                if not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
                    break
                self._lines.put(line)
        self._lines.put(None)

    def _keep_log(self) -> None:
        stderr = self._running().stderr
        if not isinstance(stderr, BufferedReader) or BoundedLog(self._order.log).copy(
            stderr, most_bytes=MOST_LOG_BYTES
        ):
            return
        self._end_for(
            ChildMisbehaved(
                code="output_limit",
                kind=ErrorKind.LIMIT,
                message=f"The evaluating process printed more than {MOST_LOG_BYTES:,} bytes.",
            )
        )

    def _finish_reading(self) -> None:
        """Wait for the end of what the child and its descendants write: then all are gone, and the device is free.

        Only one that is not sealed off can leave descendants behind; they are not waited for without end.
        """
        process = self._running()
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in self._threads:
            while thread.is_alive() and time.monotonic() < deadline:
                with contextlib.suppress(queue.Empty):
                    self._lines.get(timeout=_SECONDS_BETWEEN_DRAINS)
        if any(thread.is_alive() for thread in self._threads):
            logger.warning("what the child %d started still runs", process.pid)
            return
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _task_of(message: Mapping[str, Any]) -> object:
    return message["result"]["task"] if message["type"] == "task_result" else message.get("task")


def _too_slow(seconds: float) -> ChildMisbehaved:
    return ChildMisbehaved(
        code="time_limit",
        kind=ErrorKind.LIMIT,
        message=f"The evaluation took longer than the {seconds:,.0f} seconds that a task may take.",
    )

"""The evaluating child process, seen from the worker: requests in, checked messages out.

The child gets no address or password of any server. `evaluation.messages` describes the protocol.
"""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from evaluation.errors import ErrorKind
from evaluation.messages import PROTOCOL_VERSION

MAX_LINE_BYTES = 64 * 1024 * 1024
PASSED_ON = (
    "PATH",
    "LANG",
    "LC_ALL",
    "OMP_NUM_THREADS",
    "CUDA_VISIBLE_DEVICES",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
)
# Large blocks are kept and used again: asking the kernel for them anew costs up to half of a network's time on a CPU.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}
BASE_DIR = Path(__file__).resolve().parent.parent


class ChildError(Exception):
    """The child said why it cannot go on."""

    def __init__(self, *, code: str, kind: str, message: str) -> None:
        super().__init__(message)
        self.code, self.kind, self.message = code, kind, message


class ChildLost(Exception):
    """The child ended, or fell silent, without saying why."""


@dataclass(frozen=True, slots=True)
class ChildOrder:
    """What a child is started on. `encode_config` is the name of one of the model's family, or "" for its default."""

    model: Path
    adapter: Path | None
    encode_config: str
    suite: Path
    device: str
    store: Path
    store_bytes: int
    log: Path
    timeout_seconds: float


class EvaluatingChild:
    """A running `python -m evaluation serve`; a context manager that always ends it."""

    def __init__(self, order: ChildOrder) -> None:
        self._order = order
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        order = self._order
        command = [sys.executable, "-m", "evaluation", "serve", "--model", str(order.model)]
        command += ["--suite", str(order.suite), "--device", order.device]
        command += ["--store", str(order.store), "--store-bytes", str(order.store_bytes)]
        if order.encode_config:
            command += ["--encode-config", order.encode_config]
        if order.adapter:
            command += ["--adapter", str(order.adapter)]
        order.log.parent.mkdir(parents=True, exist_ok=True)
        with order.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=BASE_DIR,
                env=_child_environment(),
                start_new_session=True,
            )
        threading.Thread(target=self._read, name="child output", daemon=True).start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        process = self._running()
        if process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it may have ended first
                process.stdin.close()
        self.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()

    def kill(self) -> None:
        """End the child at once; waiting for its messages then raises `ChildLost`."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()

    def wait_until_ready(self) -> dict[str, Any]:
        """The child's description of what it loaded.

        Raises:
            ChildError: the model cannot be loaded.
            ChildLost: the child ended without a word.
        """
        message = self._next()
        if message["type"] != "ready" or message.get("protocol") != PROTOCOL_VERSION:
            raise ChildLost(f"the child answered {message['type']!r} where 'ready' was due")
        return message

    def evaluate(self, tasks: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Send tasks and yield the child's messages until it is idle.

        Raises:
            ChildError: the child cannot go on.
            ChildLost: the child ended or fell silent.
        """
        self._send({"type": "evaluate", "tasks": list(tasks)})
        while (message := self._next())["type"] != "idle":
            yield message

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

    def _read(self) -> None:
        """Pass the child's lines on; None stands for its end, or for a line that no honest child writes."""
        stdout = self._running().stdout
        if stdout is not None:
            while line := stdout.readline(MAX_LINE_BYTES):
                if not line.endswith(b"\n"):
                    break
                self._lines.put(line)
        self._lines.put(None)

    def _next(self) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=self._order.timeout_seconds)
        except queue.Empty as error:
            self.kill()
            raise ChildLost(f"the child said nothing for {self._order.timeout_seconds:.0f} seconds") from error
        if line is None:
            self.kill()
            status = self._running().wait()
            raise ChildLost(f"the child ended with status {status}; its log is {self._order.log.name}")
        message = _parse(line)
        if message["type"] == "failed":
            raise ChildError(
                code=str(message.get("code", ""))[:64] or "evaluation_error",
                kind=_known_kind(message.get("kind")),
                message=str(message.get("message", ""))[:2000] or "The evaluation failed without a reason.",
            )
        return message


def _parse(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError as error:
        raise ChildLost("the child wrote a line that is not JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ChildLost("the child wrote a message without a type")
    return message


def _known_kind(kind: object) -> str:
    return str(kind) if kind in set(ErrorKind) else ErrorKind.INFRASTRUCTURE


def _child_environment() -> dict[str, str]:
    """What the child needs and nothing else: no server's address, no token."""
    passed = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {
        **passed,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "PYTHONUNBUFFERED": "1",
        "HOME": "/nonexistent",
    }

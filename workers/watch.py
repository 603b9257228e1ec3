"""Watches what a sealed process and all that it starts use together, which no limit of one process can bound."""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

from evaluation.errors import ErrorKind, OutOfMemory
from workers.child_errors import ChildMisbehaved

SECONDS_BETWEEN_LOOKS = 0.5
MOST_FILES = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be used: memory of all processes together, and bytes in the folder that lasts."""

    memory_bytes: int
    folder: Path
    folder_bytes: int


class Watch(threading.Thread):
    """Looks at a process until told to stop, or until it takes too much: then `on_excess` is called once."""

    def __init__(self, process: int, allowance: Allowance, on_excess: Callable[[ChildMisbehaved], None]) -> None:
        super().__init__(name=f"watch over {process}", daemon=True)
        self._process = process
        self._allowance = allowance
        self._on_excess = on_excess
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Look no more."""
        self._stopped.set()

    def run(self) -> None:
        """Look twice a second."""
        while not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            if excess := self._excess():
                self._on_excess(excess)
                return

    def _excess(self) -> ChildMisbehaved | None:
        allowed = self._allowance
        memory = memory_of(self._process)
        if memory > allowed.memory_bytes:
            return ChildMisbehaved(
                code=OutOfMemory.code,
                kind=ErrorKind.LIMIT,
                message=f"The evaluation took {_size(memory)} of memory; this worker allows {_size(allowed.memory_bytes)}.",
            )
        if folder_bytes(allowed.folder) > allowed.folder_bytes:
            return ChildMisbehaved(
                code="disk_limit",
                kind=ErrorKind.LIMIT,
                message=f"The evaluation stored more than the {_size(allowed.folder_bytes)} that this worker allows.",
            )
        return None


def memory_of(process: int) -> int:
    """Bytes of memory that a process and its descendants do not share with files; 0 when it has ended."""
    total = 0
    with contextlib.suppress(psutil.NoSuchProcess):
        root = psutil.Process(process)
        for each in (root, *root.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                used = each.memory_info()
                total += used.rss - used.shared
    return total


def folder_bytes(folder: Path) -> float:
    """Bytes on disk under a folder, links not followed; infinite when it has more files than any honest one."""
    total = files = 0
    for path, _, names in os.walk(folder):
        files += 1 + len(names)
        if files > MOST_FILES:
            return float("inf")
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.lstat(Path(path) / name).st_blocks * 512
    return total


def _size(count: float) -> str:
    return f"{count / 1024**3:.2f} GiB"

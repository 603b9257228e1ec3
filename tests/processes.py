"""Real processes for tests: started with an environment of their own, watched by the lines they print, always ended."""

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent


class WatchedProcess:
    """A child process in a session of its own, whose output is read line by line as it comes.

    The arguments are those of Python and the environment comes on top of this one's, unless both are `is_whole`.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], *, is_whole: bool = False) -> None:
        self.lines: list[str] = []
        self._unseen: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [*arguments] if is_whole else [sys.executable, *arguments],
            cwd=BASE_DIR,
            env={**({} if is_whole else os.environ), "PYTHONUNBUFFERED": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._unseen.put(line)
        self._unseen.put(None)

    def wait_for(self, text: str, *, seconds: float) -> str:
        """The next line with `text`; a failure that shows the last lines if the process ends or stays silent."""
        while True:
            try:
                line = self._unseen.get(timeout=seconds)
            except queue.Empty:
                line = None
            if line is None:
                raise AssertionError(f"the process did not print {text!r}:\n{''.join(self.lines[-60:])}")
            if text in line:
                return line

    def kill(self) -> None:
        """SIGKILL to the process alone, as the kernel would when memory is short."""
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> int:
        """Ctrl-C; returns the exit status."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()

    def end(self) -> None:
        """End the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextlib.contextmanager
def watched(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[WatchedProcess]:
    """A watched process that is ended when the block is left."""
    process = WatchedProcess(arguments, environment)
    try:
        yield process
    finally:
        process.end()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

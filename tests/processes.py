"""Real processes for tests: started with an environment of their own, watched by the lines they print, always ended."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent


class WatchedProcess:
    """A child process in a session of its own, whose output is read line by line."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=BASE_DIR,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def wait_for(self, text: str, *, count: int = 1) -> str:
        """Read until a line with `text` has come `count` times; the test's own time limit bounds the wait."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if text in line:
                count -= 1
                if count == 0:
                    return line
        raise AssertionError(f"the process ended without printing {text!r}:\n{''.join(self.lines[-60:])}")

    def kill(self) -> None:
        """SIGKILL to the process alone, as the kernel would when memory is short."""
        self.process.kill()
        self.process.wait()

    def interrupt(self) -> int:
        """Ctrl-C; returns the exit status."""
        self.process.send_signal(signal.SIGINT)
        self.rest()
        return self.process.wait()

    def rest(self) -> None:
        """Read what is still printed, until the end."""
        assert self.process.stdout is not None
        self.lines.extend(self.process.stdout)

    def end(self) -> None:
        """End the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
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

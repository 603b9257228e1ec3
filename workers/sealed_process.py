"""Starting a sealed process and ending it with everything that it started."""

import contextlib
import os
import signal
import subprocess

from workers.own_stores import hand_over
from workers.sandbox.protocol import Enclosure, Sandbox
from workers.sandbox.users import owner_of_store


def start_sealed(sandbox: Sandbox, enclosure: Enclosure) -> subprocess.Popen[bytes]:
    """Hand an enclosure's folder over and start its command, with pipes for its streams, in a session of its own.

    Raises:
        SandboxUnavailable: it cannot be sealed off as ordered.
        OSError: it cannot be started.
    """
    hand_over(enclosure.writable, owner_of_store(enclosure.writable, is_sealed=sandbox.is_sealed))
    return subprocess.Popen(
        sandbox.command(enclosure),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env=dict(enclosure.environment),
        start_new_session=True,
    )


def end_sealed(process: subprocess.Popen[bytes]) -> None:
    """End its whole session at once, if it still runs; may be called from any thread."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):  # it may end at this moment
            os.killpg(process.pid, signal.SIGKILL)

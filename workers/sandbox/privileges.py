"""The last steps before a sealed command, taken inside by util-linux: limits, another user, no way back."""

import math

from workers.sandbox.protocol import Limits

OPEN_FILES = 4096


def limited(limits: Limits) -> list[str]:
    """Runs what follows under the kernel's limits for processes."""
    return [
        "prlimit",
        "--core=0",
        f"--data={limits.memory_bytes}",
        f"--nproc={limits.processes}",
        f"--fsize={limits.file_bytes}",
        f"--cpu={math.ceil(limits.cpu_seconds)}",
        f"--nofile={OPEN_FILES}",
        "--msgqueue=0",
        "--",
    ]


def as_user(user: int) -> list[str]:
    """Runs what follows as a user without any capability, which nothing that it starts can get back."""
    return [
        "setpriv",
        f"--reuid={user}",
        f"--regid={user}",
        "--clear-groups",
        "--inh-caps=-all",
        "--ambient-caps=-all",
        "--bounding-set=-all",
        "--no-new-privs",
        "--",
    ]


def without_new_privileges() -> list[str]:
    """Runs what follows as the user that it has, never to gain from a program's set-user bit."""
    return ["setpriv", "--no-new-privs", "--"]


def dying_with_parent() -> list[str]:
    """Runs what follows so that the kernel kills it when the thread that started it ends."""
    return ["setpriv", "--pdeathsig=KILL", "--"]

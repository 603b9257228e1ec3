"""What a sealed process is started on, and what every way of sealing offers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class SandboxUnavailable(Exception):
    """A way of sealing was asked for that this machine does not allow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a sealed process may use.

    Attributes:
        memory_bytes: data of one process; the worker holds all processes together to it (`workers.watch`).
        processes: processes and threads.
        tmp_bytes: its private /tmp, and as much again in /dev/shm. Both are memory.
        file_bytes: the largest file that it may write.
        cpu_seconds: processor time of one process.
    """

    memory_bytes: int
    processes: int
    tmp_bytes: int
    file_bytes: int
    cpu_seconds: int


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A command and all that it gets to see.

    Attributes:
        command: program and arguments; the program's full path.
        environment: the whole environment.
        read_only: files and folders, at the same place inside; links in the path are resolved before.
        writable: the one folder outside of /tmp that can be written and that lasts. Its name decides the user that a
            root worker runs the command as, so that what it holds stays readable to later commands, and to no other's.
        devices: device files, at the same place inside.
        limits: what it may use.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    read_only: tuple[Path, ...]
    writable: Path
    devices: tuple[Path, ...]
    limits: Limits


class Sandbox(Protocol):
    """A way of sealing."""

    name: str
    is_sealed: bool

    def command(self, enclosure: Enclosure) -> list[str]:
        """The command line that runs the enclosure's command sealed, to be started with `enclosure.environment`.

        Raises:
            SandboxUnavailable: a program that it needs is not installed.
        """
        ...

"""Who this worker is."""

import functools
import importlib.metadata
import os
import platform
import socket
import uuid
from dataclasses import dataclass
from types import MappingProxyType

from django.conf import settings

from workers.sealing import worker_sandbox

SHOWN_PACKAGES = ("torch", "transformers", "peft", "sentence-transformers", "numpy")


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """`name` is new with every start, so that a restarted worker never passes for the one that held a lease.

    `versions` also names the sandbox, which administrators are warned by when it is none.
    """

    name: str
    device: str
    worker_class: str
    versions: MappingProxyType[str, str]


@functools.cache
def worker_identity() -> WorkerIdentity:
    """The identity of this process, the same for its whole life.

    Raises:
        SandboxUnavailable: this machine cannot seal off what the worker would evaluate.
    """
    versions = {package: importlib.metadata.version(package) for package in SHOWN_PACKAGES}
    return WorkerIdentity(
        name=f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}",
        device=settings.WORKER_DEVICE,
        worker_class=settings.WORKER_CLASS,
        versions=MappingProxyType({"sandbox": worker_sandbox().name, "python": platform.python_version(), **versions}),
    )

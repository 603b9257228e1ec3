"""Which sandbox a worker uses: tried before it is relied on."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from workers.sandbox.bubblewrap import Bubblewrap
from workers.sandbox.namespaces import Namespaces
from workers.sandbox.places import python_places, python_program
from workers.sandbox.protocol import Enclosure, Limits, Sandbox, SandboxUnavailable
from workers.sandbox.unsealed import Unsealed
from workers.sandbox.users import owner_of_store

AUTOMATIC = "auto"
UNSEALED = Unsealed.name
SANDBOXES: Mapping[str, type[Sandbox]] = {kind.name: kind for kind in (Bubblewrap, Namespaces, Unsealed)}
CHOICES = (AUTOMATIC, *SANDBOXES)

_SECONDS = 30
_MIB = 1 << 20
# Run inside: says what is open that must be closed.
_INSPECTION = """
import os, socket
problems = []
if os.getuid() == 0 or os.geteuid() == 0:
    problems.append("it runs as root")
if {name for _, name in socket.if_nameindex()} - {"lo"}:
    problems.append("it has a network")
if "NoNewPrivs:\\t1" not in open("/proc/self/status").read():
    problems.append("it can gain privileges")
if os.path.exists("/etc/shadow") or os.path.exists(OUTSIDE):
    problems.append("it sees files of the machine")
if os.access("/", os.W_OK) or os.access("/usr", os.W_OK):
    problems.append("it can write to the machine")
if sum(name.isdigit() for name in os.listdir("/proc")) > 5:
    problems.append("it sees processes of the machine")
raise SystemExit("; ".join(problems) or 0)
"""


def chosen_sandbox(name: str) -> Sandbox:
    """The sandbox of a setting, tried on this machine: one by name, or "auto" for the first that works and seals.

    Raises:
        SandboxUnavailable: no such sandbox works here; the message says why, and what to do.
    """
    if name not in CHOICES:
        raise SandboxUnavailable(f"SANDBOX is {name!r}; it must be one of {', '.join(CHOICES)}.")
    sealing = [kind() for kind in SANDBOXES.values() if kind.is_sealed]
    candidates = sealing if name == AUTOMATIC else [SANDBOXES[name]()]
    refusals = []
    for sandbox in candidates:
        refusal = why_unusable(sandbox)
        if not refusal:
            return sandbox
        refusals.append(f"{sandbox.name}: {refusal}")
    raise SandboxUnavailable(
        f"This worker cannot seal off what it evaluates ({'; '.join(refusals)}). Install bubblewrap and allow user"
        f" namespaces, or set SANDBOX={UNSEALED} if every model that is submitted may do what this worker may."
    )


def best_sandbox_name() -> str:
    """What works best on this machine, "none" if nothing does: for a board on one's own machine."""
    try:
        return chosen_sandbox(AUTOMATIC).name
    except SandboxUnavailable:
        return UNSEALED


def why_unusable(sandbox: Sandbox) -> str:
    """Why a sandbox does not hold on this machine; "" when it does."""
    if not sandbox.is_sealed:
        return ""
    with tempfile.TemporaryDirectory() as outside:
        writable = Path(outside) / "writable"
        writable.mkdir()
        try:
            user = owner_of_store(writable, is_sealed=True)
            if writable.stat().st_uid != user:
                os.chown(writable, user, user)
            command = sandbox.command(_trial(writable, secret=Path(outside) / "secret"))
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=_SECONDS, env={"PATH": os.defpath}
            )
        except (SandboxUnavailable, OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or f"it ended with status {done.returncode}")[-500:]


def _trial(writable: Path, *, secret: Path) -> Enclosure:
    secret.touch()
    return Enclosure(
        command=(python_program(), "-I", "-S", "-c", _INSPECTION.replace("OUTSIDE", repr(str(secret)))),
        environment={},
        read_only=tuple(python_places()),
        writable=writable,
        devices=(),
        limits=Limits(memory_bytes=512 * _MIB, processes=64, tmp_bytes=_MIB, file_bytes=_MIB, cpu_seconds=_SECONDS),
    )

"""What a sealed child tries, and does not get: every attempt is made by a real process in a real sandbox."""

import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.processes import BASE_DIR
from tests.workers.hostile_child import ATTEMPTS
from tests.workers.sandboxes import LIMITS, SEALING, hostile_order, usable
from workers.child import EvaluatingChild
from workers.child_errors import ChildLost
from workers.sandbox.choice import SANDBOXES, chosen_sandbox, why_unusable
from workers.sandbox.protocol import Sandbox, SandboxUnavailable
from workers.sandbox.unsealed import Unsealed

SECRET = "postgres://someone:canary-of-the-database@host/board"
HARMLESS = [
    "reach the worker's own address", "reach an abstract socket", "reach a socket in the file system", "read another model",
    "read another model's vectors", "read the settings", "write to its model",
]  # fmt: skip


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A machine with things worth stealing; yields the parameters of a child and what it may read."""
    monkeypatch.setenv("DATABASE_URL", SECRET)
    for name in ("model", "other", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "weights").write_text("weights")
        (tmp_path / name / "weights").chmod(0o666)  # so that it is the sandbox that refuses, not the file
    name = f"medboard-{os.getpid()}"
    visible_path = Path(f"/tmp/{name}")  # noqa: S108 - a path of a socket must be short
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.socket(socket.AF_UNIX) as visible,
        subprocess.Popen(["sleep", "300"]) as bystander,
    ):
        abstract.bind(f"\0{name}")
        abstract.listen()
        visible.bind(str(visible_path))
        visible.listen()
        parameters = {
            "port": listener.getsockname()[1],
            "abstract": name,
            "socket": str(visible_path),
            "secret": SECRET,
            "model_file": str(tmp_path / "model" / "weights"),
            "other_model": str(tmp_path / "other" / "weights"),
            "other_store": str(tmp_path / "elsewhere"),
            "settings": str(BASE_DIR / "leaderboard" / "config" / "settings.py"),
            "code": str(BASE_DIR / "evaluation" / "__init__.py"),
            "worker": bystander.pid,
            "too_much": LIMITS.tmp_bytes * 2,
        }
        try:
            yield parameters, (tmp_path / "model", BASE_DIR / "evaluation")
        finally:
            assert bystander.poll() is None, "a process of the machine was killed"
            bystander.kill()
            visible_path.unlink()


def outcomes(folder: Path, sandbox: Sandbox, scene, mode: str = "attempts") -> dict[str, str]:
    parameters, read_only = scene
    order = hostile_order(folder, sandbox, mode, parameters, read_only=read_only)
    with EvaluatingChild(order) as child, pytest.raises(ChildLost, match="status 0"):
        child.wait_until_ready()
    told = [json.loads(line) for line in order.log.read_text().splitlines()]
    return {line["attempt"]: line["outcome"] for line in told}


@pytest.mark.parametrize("name", SEALING)
def test_a_sealed_child_gets_nothing(name: str, tmp_path: Path, scene) -> None:
    found = outcomes(tmp_path, usable(name), scene)
    assert set(found) == set(ATTEMPTS)
    assert [attempt for attempt, outcome in found.items() if outcome == "succeeded"] == []
    expected = {
        "reach the worker's own address": "refused|unreachable",
        "reach an address outside": "unreachable",
        "read another model": "No such file",
        "read another model's vectors": "No such file",
        "read the settings": "No such file",
        "read /etc/shadow": "No such file",
        "find the database's address in its environment": "KeyError",
        "write to its model": "Read-only",
        "write to the code": "Read-only|Permission",
        "write to the root": "Read-only",
        "kill the worker": "No such process",
        "fill /tmp": "No space left",
        "fill /dev/shm": "No space left",
        "write a file without end": "File too large",
        "fork a thousand times": "Resource temporarily unavailable",
    }
    for attempt, reason in expected.items():
        assert re.search(reason, found[attempt]), (attempt, found[attempt])
    assert int(re.search(r"after (\d+)", found["fork a thousand times"])[1]) < LIMITS.processes
    assert not list((tmp_path / "elsewhere").glob("*.sqlite3"))
    assert (tmp_path / "model" / "weights").read_text() == "weights"


def test_without_a_sandbox_the_same_attempts_succeed(tmp_path: Path, scene) -> None:
    parameters, read_only = scene
    found = outcomes(tmp_path, SANDBOXES["none"](), ({**parameters, "only": HARMLESS}, read_only))
    assert found == dict.fromkeys(HARMLESS, "succeeded")


@pytest.mark.parametrize("name", SEALING)
def test_descendants_end_with_a_killed_worker(name: str, tmp_path: Path) -> None:
    """The worker is killed as a kernel that is short of memory would, so that it can end nothing itself."""
    usable(name)
    script = """
import sys, time
from pathlib import Path
from tests.workers.sandboxes import hostile_order, usable
from workers.child import EvaluatingChild
order = hostile_order(Path(sys.argv[1]), usable(sys.argv[2]), "wait_with_descendants", {})
with EvaluatingChild(order) as child:
    child.wait_until_ready()
    print("ready", flush=True)
    time.sleep(600)
"""
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path), name],
        cwd=BASE_DIR,
        stdout=subprocess.PIPE,
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"ready\n"
        sealed = psutil.Process(worker.pid).children(recursive=True)
        assert len(sealed) >= 3
        worker.kill()
    assert psutil.wait_procs(sealed, timeout=30)[1] == []


@pytest.mark.parametrize("name", SEALING)
def test_descendants_end_with_the_sandbox(name: str, tmp_path: Path) -> None:
    """Only the program that the worker started is killed, not what runs inside."""
    order = hostile_order(tmp_path, usable(name), "wait_with_descendants", {})
    with EvaluatingChild(order) as child:
        child.wait_until_ready()
        process = child._running()
        sealed = psutil.Process(process.pid).children(recursive=True)
        assert len(sealed) >= 3
        process.kill()
        with pytest.raises(ChildLost):
            list(child.evaluate(["first"]))
        assert psutil.wait_procs(sealed, timeout=30)[1] == []


@pytest.mark.parametrize("name", SEALING)
def test_a_worker_that_is_not_root_seals_too(name: str) -> None:
    """By a user namespace, with the system's Python, as nobody else can see a root's."""
    usable(name)
    python = Path("/usr/bin/python3")
    if os.geteuid() != 0:
        pytest.skip("every other test of this file shows it already")
    if not python.exists():
        pytest.skip("there is no Python that all users of this machine can run")
    script = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from workers.sandbox.choice import SANDBOXES, why_unusable
print(repr(why_unusable(SANDBOXES[sys.argv[2]]())))
"""
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
    done = subprocess.run(
        [*nobody, str(python), "-I", "-c", script, str(BASE_DIR), name],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert (done.stdout, done.stderr) == ("''\n", "")


def test_a_sandbox_that_does_not_work_is_never_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(
        SandboxUnavailable, match="SANDBOX is 'nono'; it must be one of auto, bubblewrap, unshare, none"
    ):
        chosen_sandbox("nono")
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("auto", "bubblewrap", "unshare"):
        with pytest.raises(SandboxUnavailable, match=r"not installed.*set SANDBOX=none"):
            chosen_sandbox(name)
    assert chosen_sandbox("none").name == "none"


class Leaky(Unsealed):
    """Claims to seal, and does not."""

    is_sealed = True
    name = "leaky"


def test_the_trial_finds_what_is_open() -> None:
    refusal = why_unusable(Leaky())
    for problem in ("it can gain privileges", "it sees files of the machine", "it sees processes of the machine"):
        assert problem in refusal

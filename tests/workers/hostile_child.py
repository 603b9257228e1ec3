"""A child that means harm: `hostile_child.py MODE PARAMETERS`, run in the place of `python -m evaluation serve`.

It uses the standard library alone. What it tried, and what came of it, it prints on standard error, one JSON object a
line: the outcome is "succeeded" or the error that it met.
"""

import contextlib
import ctypes
import json
import os
import socket
import sys
import time
from pathlib import Path

READY = {
    "type": "ready",
    "protocol": 1,
    "model": {
        "family": "clip", "architecture": "CLIPModel", "dimension": 8, "parameters": 10, "kinds": ["text"],
        "encode_config": {},
    },
    "environment": {"python": "3", "platform": "x", "device": "cpu", "code_version": "0", "packages": {}},
}  # fmt: skip


def main() -> None:
    mode, parameters = sys.argv[1], json.loads(sys.argv[2])
    if mode == "attempts":
        for name in parameters.get("only", ATTEMPTS):
            tell(name, ATTEMPTS[name], parameters)
    else:
        ENDINGS[mode](parameters)


def tell(name, attempt, parameters) -> None:
    try:
        found = attempt(parameters)
    except Exception as error:  # noqa: BLE001 - whatever it met is what is asked for
        found = f"{type(error).__name__}: {error}"
    sys.stderr.write(json.dumps({"attempt": name, "outcome": found or "succeeded"}) + "\n")


def say(**message) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def ready_and_asked() -> list[str]:
    say(**READY)
    return json.loads(sys.stdin.readline())["tasks"]


# --- what it tries --------------------------------------------------------------------------------------------------


def connect(address) -> None:
    with socket.create_connection(address, timeout=3):
        pass


def connect_local(address) -> None:
    with socket.socket(socket.AF_UNIX) as own:
        own.connect(address)


def send_datagram(parameters) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.sendto(b"x", ("192.0.2.1", 53))


def find_secret(parameters) -> str | None:
    """The database's address in any environment or command line that can be read."""
    seen = 0
    for path in [*Path("/proc").glob("[0-9]*/environ"), *Path("/proc").glob("[0-9]*/cmdline")]:
        with contextlib.suppress(OSError):
            if parameters["secret"].encode() in path.read_bytes() and "cmdline" not in str(path):
                return None
            seen += 1
    return f"not in {seen} readable files of processes"


def read(path) -> None:
    Path(path).read_bytes()


def write(path) -> None:
    with Path(path).open("ab") as file:
        file.write(b"harm")


def fill(folder, count) -> None:
    with (Path(folder) / "large").open("wb") as file:
        try:
            for _ in range(count >> 20):
                file.write(bytes(1 << 20))
        finally:
            file.truncate(0)


def fork_a_thousand(parameters) -> str | None:
    children = []
    refused = None
    for _ in range(1000):
        try:
            child = os.fork()
        except OSError as error:
            refused = f"{error.strerror} after {len(children)}"
            break
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return refused


def kill_parent(parameters) -> str:
    """The first process of a process namespace takes its children with it, so that who lives to tell has failed."""
    os.kill(os.getppid(), 9)
    time.sleep(0.2)
    return "it lives"


def mount(parameters) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"x", b"/tmp", b"tmpfs", 0, None) != 0:
        raise OSError(ctypes.get_errno(), "mount")


def become_root(parameters) -> None:
    os.setuid(0)


def run_set_user_program(parameters) -> str | None:
    """Whether a program with the set-user bit would give another user."""
    status = Path("/proc/self/status").read_text()
    return "no new privileges" if "NoNewPrivs:\t1" in status else None


ATTEMPTS = {
    "reach the worker's own address": lambda p: connect(("127.0.0.1", p["port"])),
    "reach an address outside": lambda _: connect(("192.0.2.1", 80)),
    "send a datagram": send_datagram,
    "reach an abstract socket": lambda p: connect_local("\0" + p["abstract"]),
    "reach a socket in the file system": lambda p: connect_local(p["socket"]),
    "find the database's address in its environment": lambda _: os.environ["DATABASE_URL"] and None,
    "find the database's address in another process": find_secret,
    "read another model": lambda p: read(p["other_model"]),
    "read another model's vectors": lambda p: list(Path(p["other_store"]).iterdir()) and None,
    "read the settings": lambda p: read(p["settings"]),
    "read /etc/shadow": lambda _: read("/etc/shadow"),
    "read a disk": lambda _: read("/dev/mem"),
    "write to its model": lambda p: write(p["model_file"]),
    "write beside its model": lambda p: write(p["model_file"] + ".new"),
    "write another model's vectors": lambda p: write(p["other_store"] + "/embeddings-1.sqlite3"),
    "write to the code": lambda p: write(p["code"]),
    "write to the interpreter": lambda _: write(json.__file__),
    "write to the root": lambda _: write("/harm"),
    "write a setting of the kernel": lambda _: write("/proc/sys/kernel/core_pattern"),
    "kill the worker": lambda p: os.kill(p["worker"], 9),
    "kill its parent": kill_parent,
    "become root": become_root,
    "gain privileges": run_set_user_program,
    "mount": mount,
    "fill /tmp": lambda p: fill("/tmp", p["too_much"]),  # noqa: S108 - its own
    "fill /dev/shm": lambda p: fill("/dev/shm", p["too_much"]),  # noqa: S108 - its own
    "write a file without end": lambda p: fill(p["store"], p["too_much"]),
    "fork a thousand times": fork_a_thousand,
}


# --- how it ends ----------------------------------------------------------------------------------------------------


def hang(parameters) -> None:
    ready_and_asked()
    time.sleep(600)


def hang_with_progress(parameters) -> None:
    (task,) = ready_and_asked()
    while True:
        say(type="progress", task=task, stage="embedding", done=0, total=1)
        time.sleep(0.01)


def exit_at_once(parameters) -> None:
    ready_and_asked()


def garbage(parameters) -> None:
    ready_and_asked()
    sys.stdout.buffer.write(os.urandom(4096) + b"\n")
    sys.stdout.flush()
    time.sleep(600)


def flood(stream, piece, count) -> None:
    with contextlib.suppress(BrokenPipeError):
        for _ in range(count // len(piece)):
            stream.write(piece)
            stream.flush()
    time.sleep(600)


def flood_one_line(parameters) -> None:
    ready_and_asked()
    flood(sys.stdout.buffer, b"x" * (1 << 20), 1 << 30)


def flood_progress(parameters) -> None:
    (task,) = ready_and_asked()
    line = json.dumps({"type": "progress", "task": task, "stage": "embedding", "done": 0, "total": 1}) + "\n"
    flood(sys.stdout.buffer, line.encode() * 10_000, 1 << 30)


def flood_log(parameters) -> None:
    ready_and_asked()
    flood(sys.stderr.buffer, b"x" * (1 << 20), 1 << 30)


def allocate(parameters) -> None:
    ready_and_asked()
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)) * 16)


def allocate_in_many(parameters) -> None:
    """Each process stays below what one may have."""
    ready_and_asked()
    for _ in range(8):
        if os.fork() == 0:
            break
    kept = bytearray(os.urandom(1 << 20)) * (parameters["piece"] >> 20)
    time.sleep(600)
    del kept


def fill_store(parameters) -> None:
    ready_and_asked()
    folder = Path(parameters["store"])
    for number in range(1 << 20):
        with (folder / f"{number}").open("wb") as file:
            file.write(bytes(1 << 20))


def lie(parameters) -> None:
    """Answer what the test says, word by word; `TASK` stands for the first task."""
    (task, *_) = ready_and_asked()
    for line in parameters["lines"]:
        sys.stdout.write(line.replace("TASK", task) + "\n")
    sys.stdout.flush()
    time.sleep(600)


def lie_at_once(parameters) -> None:
    for line in parameters["lines"]:
        sys.stdout.write(line + "\n")
    sys.stdout.flush()
    time.sleep(600)


def wait_with_descendants(parameters) -> None:
    """Says that it is ready once a child of its own, in a session of its own, waits beside it."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    say(**READY)
    time.sleep(600)


ENDINGS = {
    function.__name__: function
    for function in (
        hang, hang_with_progress, exit_at_once, garbage, flood_one_line, flood_progress, flood_log, allocate,
        allocate_in_many, fill_store, lie, lie_at_once, wait_with_descendants,
    )
}  # fmt: skip

if __name__ == "__main__":
    main()

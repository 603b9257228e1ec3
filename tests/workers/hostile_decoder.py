"""A decoder that a file has taken over: `hostile_decoder.py MODE FOLDER`, run in the place of the real one."""

import ctypes
import json
import os
import socket
import sys
import time
from pathlib import Path


def main() -> None:
    mode, folder = sys.argv[1:]
    send(b"ready\n")
    sys.stdin.readline()
    MODES[mode](Path(folder))


def send(content: bytes) -> None:
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def header(**changes) -> bytes:
    return json.dumps({"is_volume": False, "images": [[2, 2]], "volume": None, **changes}).encode() + b"\n"


def hang(_folder: Path) -> None:
    send(header())
    time.sleep(600)


def crash(_folder: Path) -> None:
    ctypes.string_at(0)


def eat_memory(_folder: Path) -> None:
    """Several processes, each within what one may have."""
    for _ in range(4):
        if os.fork() == 0:
            kept = bytearray(1 << 30)
            kept[:: 1 << 12] = b"x" * (1 << 18)
            time.sleep(600)
    time.sleep(600)


def print_without_end(_folder: Path) -> None:
    while True:
        send(b"x" * (1 << 20))


def lie(_folder: Path) -> None:
    send(header(images=[[20_000, 20_000]]) + bytes(100))


def end_early(_folder: Path) -> None:
    send(header() + bytes(11))


def look_around(folder: Path) -> None:
    """What it can reach, told in the place of a refusal."""
    found = []
    for path in (Path("/etc/passwd"), Path("/var"), folder.parent / "secret"):
        try:
            path.read_bytes() if path.is_file() else list(path.iterdir())
            found.append(str(path))
        except OSError:
            continue
    found += [name for name in os.environ if "PANEL" in name or "URL" in name]
    found += [name for _, name in socket.if_nameindex() if name != "lo"]
    if os.getuid() == 0:
        found.append("root")
    send(json.dumps({"refused": f"found {' '.join(found)}."}).encode() + b"\n")


MODES = {
    "hang": hang,
    "crash": crash,
    "eat_memory": eat_memory,
    "print_without_end": print_without_end,
    "lie": lie,
    "end_early": end_early,
    "look_around": look_around,
}

if __name__ == "__main__":
    main()

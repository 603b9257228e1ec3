"""Builds a root file system in a mount namespace that `unshare` made, and runs a command in it; a program by itself.

`python -I -S building.py LAYOUT COMMAND...`: the layout is JSON, made by `namespaces`. This process is the first of its
process namespace, so all processes end with it, and it ends with the command. It stays what it is while the command
becomes somebody else: the kernel forgets to kill a process along with its parent when its user changes.
"""

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

# From linux/mount.h and asm-generic/unistd.h; the same number on every architecture since Linux 5.12.
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC = 0x2, 0x4, 0x8, 0x1000, 0x4000
MNT_DETACH = 0x2
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV = 0x1, 0x2, 0x4
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_MOUNT_SETATTR = 442
AT_FDCWD, AT_RECURSIVE = -100, 0x8000

BASE = Path("/tmp")  # noqa: S108 - only where the new root is mounted, over whatever is there
OLD = "/old"
DEVICES = ("null", "zero", "full", "random", "urandom")
STREAMS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
FAILED = 125

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def main() -> None:
    """Build, then run the command and end as it ends."""
    layout, command = json.loads(sys.argv[1]), sys.argv[2:]
    try:
        build(layout)
    except OSError as error:
        sys.stderr.write(f"the sealed root cannot be built: {error}\n")
        raise SystemExit(FAILED) from error
    process = os.fork()
    if process == 0:
        _run(command)
    sys.exit(_reap_until(process))


def build(layout: dict[str, Any]) -> None:
    """Mount what the layout names under a new root, and make that the root."""
    _mount("tmpfs", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755")
    (BASE / OLD[1:]).mkdir()
    (BASE / "new").mkdir()
    _mount(str(BASE / "new"), BASE / "new", "", MS_BIND)
    _pivot_root(BASE, BASE / OLD[1:])
    os.chdir("/")
    root = Path("/new")
    _temporary(root, layout["tmp_bytes"])
    _devices(root, layout["devices"])
    for target, link in layout["links"]:
        (root / link[1:]).symlink_to(target)
    for path in layout["read_only"]:
        _bind(path, root, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
    _bind(layout["writable"], root, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
    (root / "proc").mkdir()
    _mount("proc", root / "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    for place in (root / "dev", root):
        _set_attributes(place, MOUNT_ATTR_RDONLY, recursive=False)
    _enter(root)


def _temporary(root: Path, size: int) -> None:
    (root / "dev").mkdir()
    _mount("tmpfs", root / "dev", "tmpfs", MS_NOSUID, "mode=0755")
    for place in (root / "dev" / "shm", root / "tmp"):
        place.mkdir()
        _mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, f"mode=1777,size={size}")


def _devices(root: Path, names: list[str]) -> None:
    for name in (*(f"/dev/{device}" for device in DEVICES), *names):
        _bind(name, root, MOUNT_ATTR_NOSUID)
    for name, target in STREAMS.items():
        (root / "dev" / name).symlink_to(target)


def _bind(path: str, root: Path, attributes: int) -> None:
    """Show a file or folder of the old root at the same place in the new one, with all that is mounted in it."""
    source, target = Path(OLD + path), root / path[1:]
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    _mount(str(source), target, "", MS_BIND | MS_REC)
    _set_attributes(target, attributes, recursive=True)


def _enter(root: Path) -> None:
    """Make the finished root the only one that is left."""
    os.chdir(root)
    here = Path()
    _pivot_root(here, here)
    _check(_libc.umount2(b".", MNT_DETACH), "umount")
    os.chdir("/tmp")  # noqa: S108 - the private one


def _run(command: list[str]) -> NoReturn:
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is wanted
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error}\n")
        os._exit(FAILED)


def _reap_until(process: int) -> int:
    """Collect every process that ends, until the command has; its status."""
    while True:
        ended, status = os.wait()
        if ended == process:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _mount(source: str, target: Path, kind: str, flags: int, data: str = "") -> None:
    done = _libc.mount(source.encode(), os.fsencode(target), kind.encode(), ctypes.c_ulong(flags), data.encode())
    _check(done, f"mounting {target}")


def _set_attributes(target: Path, attributes: int, *, recursive: bool) -> None:
    wanted = _MountAttributes(attr_set=attributes)
    flags = AT_RECURSIVE if recursive else 0
    done = _libc.syscall(
        SYS_MOUNT_SETATTR, AT_FDCWD, os.fsencode(target), flags, ctypes.byref(wanted), ctypes.sizeof(wanted)
    )
    _check(done, f"protecting {target}")


def _pivot_root(new: Path, old: Path) -> None:
    number = SYS_PIVOT_ROOT[os.uname().machine]
    _check(_libc.syscall(number, os.fsencode(new), os.fsencode(old)), "changing the root")


def _check(done: int, what: str) -> None:
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main()

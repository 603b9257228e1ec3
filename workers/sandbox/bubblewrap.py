"""Sealing by bubblewrap: a root file system of its own that holds what is named, in namespaces of its own.

A root worker keeps its root's right to build that file system and gives itself up inside, for a user of the machine that
owns nothing but its folder. Any other worker uses a user namespace, in which it is nobody from the beginning.
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

from workers.sandbox.places import outermost, system_places
from workers.sandbox.privileges import as_user, limited, without_new_privileges
from workers.sandbox.protocol import Enclosure, SandboxUnavailable
from workers.sandbox.users import is_root, sealed_user

_NAMESPACES = ("--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


class Bubblewrap:
    """Implements `Sandbox` with the program `bwrap`, version 0.8 or later."""

    name = "bubblewrap"
    is_sealed = True

    def command(self, enclosure: Enclosure) -> list[str]:
        """The sealed command line; see `Sandbox`."""
        program = shutil.which("bwrap")
        if program is None:
            raise SandboxUnavailable("bwrap is not installed; it is in the package bubblewrap.")
        return [
            program,
            *_NAMESPACES,
            "--die-with-parent",
            "--new-session",
            *_user(enclosure),
            *_files(enclosure),
            *("--chdir", "/tmp"),  # noqa: S108 - the private one
            "--",
            *(as_user(sealed_user(enclosure.writable)) if is_root() else without_new_privileges()),
            *limited(enclosure.limits),
            *enclosure.command,
        ]


def _user(enclosure: Enclosure) -> list[str]:
    if is_root():
        kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
        return ["--cap-drop", "ALL", *(part for name in kept for part in ("--cap-add", name))]
    user = str(sealed_user(enclosure.writable))
    return ["--unshare-user", "--disable-userns", "--uid", user, "--gid", user]


def _files(enclosure: Enclosure) -> list[str]:
    folders, links = system_places()
    read_only = outermost([*folders, *enclosure.read_only])
    writable = enclosure.writable.resolve()
    size = str(enclosure.limits.tmp_bytes)
    arguments = ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/dev/shm", "/tmp"):  # noqa: S108 - the private ones
        arguments += ["--perms", "1777", "--size", size, "--tmpfs", folder]
    for parent in _parents([*read_only, writable]):
        arguments += ["--perms", "0755", "--dir", str(parent)]
    for target, link in links:
        arguments += ["--symlink", target, str(link)]
    for path in read_only:
        arguments += ["--ro-bind", str(path), str(path)]
    arguments += ["--bind", str(writable), str(writable)]
    for device in enclosure.devices:
        arguments += ["--dev-bind", str(device), str(device)]
    return [*arguments, "--remount-ro", "/dev", "--remount-ro", "/"]


def _parents(paths: Iterable[Path]) -> list[Path]:
    """The folders above, from the root down; made by name, since bubblewrap makes them for root alone."""
    return sorted({parent for path in paths for parent in path.parents if parent != Path("/")})

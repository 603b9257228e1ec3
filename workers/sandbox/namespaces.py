"""Sealing by util-linux alone, where bubblewrap is not installed: `unshare`, and `building` for the root file system.

It seals what bubblewrap seals, but for one thing: the command of a worker that is not root may make further namespaces
of its own, in which it has no more rights than before but meets more of the kernel. Under a root worker that holds for
both. It starts one Python more, which takes a tenth of a second.
"""

import json
import shutil
import sys
from pathlib import Path

from workers.sandbox import building
from workers.sandbox.places import outermost, system_places
from workers.sandbox.privileges import as_user, dying_with_parent, limited, without_new_privileges
from workers.sandbox.protocol import Enclosure, SandboxUnavailable
from workers.sandbox.users import is_root, sealed_user

_NAMESPACES = ("--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup")


class Namespaces:
    """Implements `Sandbox` with the programs of util-linux, version 2.38 or later."""

    name = "unshare"
    is_sealed = True

    def command(self, enclosure: Enclosure) -> list[str]:
        """The sealed command line; see `Sandbox`."""
        program = shutil.which("unshare")
        if program is None:
            raise SandboxUnavailable("unshare is not installed; it is in the package util-linux.")
        return [
            *dying_with_parent(),
            program,
            *_NAMESPACES,
            *(() if is_root() else ("--user", "--map-root-user")),
            "--fork",
            "--kill-child",
            "--",
            *(sys.executable, "-I", "-S", str(Path(building.__file__).resolve()), _layout(enclosure)),
            *_user(enclosure),
            *limited(enclosure.limits),
            *enclosure.command,
        ]


def _user(enclosure: Enclosure) -> list[str]:
    user = sealed_user(enclosure.writable)
    if is_root():
        return as_user(user)
    return ["unshare", "--user", f"--map-user={user}", f"--map-group={user}", "--", *without_new_privileges()]


def _layout(enclosure: Enclosure) -> str:
    folders, links = system_places()
    return json.dumps(
        {
            "read_only": [str(path) for path in outermost([*folders, *enclosure.read_only])],
            "writable": str(enclosure.writable.resolve()),
            "links": [(target, str(link)) for target, link in links],
            "devices": [str(device) for device in enclosure.devices],
            "tmp_bytes": enclosure.limits.tmp_bytes,
        }
    )

"""The user that a command of a root worker runs as."""

import hashlib
import os
from pathlib import Path

# The range that systemd reserves for users without an account, so that no account or other service has them.
FIRST_USER = 61184
LAST_USER = 65519


def sealed_user(writable: Path) -> int:
    """The same user and group for a folder of the same name; two names rarely share one."""
    digest = hashlib.sha256(writable.name.encode()).digest()
    return FIRST_USER + int.from_bytes(digest[:8]) % (LAST_USER - FIRST_USER + 1)


def is_root() -> bool:
    """Whether this worker can, and so has to, give up its own user for a command."""
    return os.geteuid() == 0


def owner_of_store(writable: Path, *, is_sealed: bool) -> int:
    """Who has to own the folder that a command writes."""
    return sealed_user(writable) if is_sealed and is_root() else os.geteuid()

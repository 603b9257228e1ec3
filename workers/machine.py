"""What this machine has. Needs no settings, so that it can be asked before they are read."""

from pathlib import Path

import psutil

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_of_this_machine() -> int:
    """Bytes of memory of this machine, or of the container that this runs in if that has less."""
    total: int = psutil.virtual_memory().total
    limit = _CGROUP_LIMIT.read_text().strip() if _CGROUP_LIMIT.is_file() else "max"
    return min(total, int(limit)) if limit.isdecimal() else total

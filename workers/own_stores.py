"""A store of vectors for each model alone, so that no model's process can touch what another's will read.

Under one folder lie one folder and one lock file a model and encode config. The worker never opens what a child wrote;
it makes the folder, hands it to the child's user, and removes whole folders when there is no room.
"""

import fcntl
import hashlib
import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from evaluation.errors import StoreUnavailable
from workers.watch import folder_bytes

_LOCK = ".lock"
_NAME_DIGITS = 32

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OwnStore:
    """A model's folder, and how much it may hold."""

    folder: Path
    max_bytes: int


@contextmanager
def own_store(root: Path, *, identity: str, max_bytes: int) -> Iterator[OwnStore]:
    """The store of one model for as long as the block lasts; two processes of one model share it.

    Stores that were not used for longest are removed until all others together hold at most half of `max_bytes`; this
    one may hold what is left. A store in use is never removed.

    Args:
        root: the folder of all stores.
        identity: whatever tells models with their configs apart.
        max_bytes: what all stores on this machine may hold.

    Raises:
        StoreUnavailable: the folder cannot be written.
    """
    name = hashlib.sha256(identity.encode()).hexdigest()[:_NAME_DIGITS]
    with ExitStack() as held:
        try:
            root.mkdir(parents=True, exist_ok=True)
            lock = held.enter_context(_locked(root / f"{name}{_LOCK}", fcntl.LOCK_SH))
            os.utime(lock.name)
            (root / name).mkdir(mode=0o700, exist_ok=True)
            others = _make_room(root, besides=name, most=max_bytes // 2)
        except OSError as error:
            raise StoreUnavailable(f"The stores of vectors cannot be kept: {error.strerror}. See the disk.") from error
        yield OwnStore(root / name, max_bytes - others)


def hand_over(folder: Path, user: int) -> None:
    """Give a store to a user. What another user left in it is removed: it could not be read, nor should it be.

    Raises:
        OSError: this worker may not.
    """
    if folder.stat().st_uid == user:
        return
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)
    os.chown(folder, user, user)


def _make_room(root: Path, *, besides: str, most: int) -> int:
    """Remove stores, the longest unused first, until they hold at most so much; returns what they hold now."""
    locks = sorted(root.glob(f"*{_LOCK}"), key=lambda path: path.stat().st_mtime)
    sizes = {lock: int(min(folder_bytes(root / lock.stem), 1 << 62)) for lock in locks if lock.stem != besides}
    total = sum(sizes.values())
    for lock, size in sizes.items():
        if total <= most:
            break
        if _remove(lock):
            total -= size
    return min(total, most)


def _remove(lock: Path) -> bool:
    """Remove a store unless somebody uses it."""
    try:
        with _locked(lock, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
    except BlockingIOError:
        return False
    logger.info("the vectors in %s made room for others", lock.stem)
    return True


@contextmanager
def _locked(path: Path, how: int) -> Iterator[IO[bytes]]:
    with path.open("ab") as file:
        fcntl.flock(file, how)
        yield file

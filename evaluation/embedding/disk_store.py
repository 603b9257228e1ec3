"""Vectors on disk by content, shared by tasks, suites, runs and processes.

One SQLite file in a folder on a local disk (its write-ahead log does not work over a network). Every vector stands with
a checksum. A file that is damaged as a whole is given up for a new one with the next number.
"""

import fcntl
import hashlib
import logging
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import StoreUnavailable
from evaluation.types import FloatMatrix

FloatVector = NDArray[np.float32]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL, checksum BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, id INTEGER NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_use ON entries (used, id);
"""
_FILE = re.compile(r"embeddings-(\d+)\.sqlite3")
_LOCK_FILE = "embeddings.lock"
_SECONDS_TO_WAIT = 60.0
_KEYS_AT_ONCE = 500
_EVICTED_AT_ONCE = 64
_CHECKSUM_BYTES = 16
_FLOAT32 = np.dtype("<f4")
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE = 0xFF  # the low byte of an extended error code of SQLite

logger = logging.getLogger(__name__)


class DiskStore:
    """The vectors of one space in the store of a folder; vectors of other spaces lie beside them and are not seen.

    The store never fails a run: an entry that is damaged is counted, removed and reported as absent, and a store that
    cannot be read or written any more (a full disk) is left alone after a warning.

    Args:
        folder: made if it does not exist; None for a store of this process alone, which vanishes with it.
        space: identity of the vector space, hexadecimal digits; see `embedding_space`.
        dimension: numbers in a vector.
        max_bytes: size of the file; the least recently used vectors of any space make room for new ones. None for no
            limit.

    Raises:
        StoreUnavailable: the folder cannot be made or written.
    """

    def __init__(self, folder: Path | None, *, space: str, dimension: int, max_bytes: int | None = None) -> None:
        self._folder = folder
        self._space = bytes.fromhex(space)
        self._dimension = dimension
        self._max_bytes = max_bytes
        self._working = True
        self.damaged = 0
        self._open()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def get(self, keys: Sequence[str]) -> Iterator[tuple[str, FloatVector]]:
        """The kept vectors among those of the given keys (hexadecimal digits), bit for bit as they were put."""
        for start in range(0, len(keys), _KEYS_AT_ONCE):
            found: list[tuple[str, FloatVector]] = []
            if self._working:
                with self._tolerating_faults():
                    found = self._read({self._name(key): key for key in keys[start : start + _KEYS_AT_ONCE]})
            yield from found

    def put(self, keys: Sequence[str], rows: FloatMatrix) -> None:
        """Keep one float32 row a key; a key that is already there keeps its vector."""
        if not self._working:
            return
        with self._tolerating_faults():
            with self._writing():
                for key, row in zip(keys, rows, strict=True):
                    self._insert(self._name(key), row.astype(_FLOAT32).tobytes())
                self._make_room()
            self._shrink()

    def _name(self, key: str) -> bytes:
        return hashlib.sha256(self._space + bytes.fromhex(key)).digest()

    def _read(self, names: dict[bytes, str]) -> list[tuple[str, FloatVector]]:
        marks = ",".join("?" * len(names))
        found = self._connection.execute(
            f"SELECT key, id, used, vector, checksum FROM entries LEFT JOIN vectors USING (id) WHERE key IN ({marks})",  # noqa: S608 - question marks only
            list(names),
        ).fetchall()
        whole = [entry for entry in found if self._is_whole(*entry)]
        good = {name for name, *_ in whole}
        damaged = [(name, number) for name, number, *_ in found if name not in good]
        old = [(self._turn, name) for name, _, used, *_ in whole if used < self._turn]
        if damaged or old:
            with self._writing():
                self._connection.executemany("UPDATE entries SET used = ? WHERE key = ?", old)
                self._connection.executemany("DELETE FROM vectors WHERE id = ?", [(number,) for _, number in damaged])
                self._connection.executemany("DELETE FROM entries WHERE key = ?", [(name,) for name, _ in damaged])
        if damaged:
            self.damaged += len(damaged)
            logger.warning("%s: %d damaged vectors are computed anew", self._path, len(damaged))
        return [(names[name], np.frombuffer(vector, dtype=_FLOAT32)) for name, _, _, vector, _ in whole]

    def _is_whole(self, name: bytes, number: int, used: int, vector: object, checksum: object) -> bool:
        return (
            isinstance(vector, bytes)
            and len(vector) == self._dimension * _FLOAT32.itemsize
            and checksum == _checksum(name, vector)
        )

    def _insert(self, name: bytes, content: bytes) -> None:
        if self._connection.execute("SELECT 1 FROM entries WHERE key = ?", (name,)).fetchone():
            return
        cursor = self._connection.execute(
            "INSERT INTO vectors (vector, checksum) VALUES (?, ?)", (content, _checksum(name, content))
        )
        self._connection.execute(
            "INSERT INTO entries (key, id, used) VALUES (?, ?, ?)", (name, cursor.lastrowid, self._turn)
        )

    def _make_room(self) -> None:
        while self._max_bytes is not None and self._bytes_of("page_count", "freelist_count") > self._max_bytes:
            oldest = self._connection.execute(
                "SELECT key, id FROM entries ORDER BY used, id LIMIT ?", (_EVICTED_AT_ONCE,)
            ).fetchall()
            if not oldest:
                return
            self._connection.executemany("DELETE FROM entries WHERE key = ?", [(name,) for name, _ in oldest])
            self._connection.executemany("DELETE FROM vectors WHERE id = ?", [(number,) for _, number in oldest])

    def _shrink(self) -> None:
        """Give free pages back to the file system where the file is larger than it may be."""
        if self._max_bytes is not None and self._bytes_of("page_count") > self._max_bytes:
            self._connection.executescript("PRAGMA incremental_vacuum")

    def _bytes_of(self, total: str, less: str = "") -> int:
        """Bytes of a number of pages that SQLite tells, without those of another."""
        pages, free, size = (
            int(self._connection.execute(f"PRAGMA {name}").fetchone()[0]) if name else 0
            for name in (total, less, "page_size")
        )
        return (pages - free) * size

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction that takes the write lock at once, so that two processes wait for each other."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.rollback()
            raise
        self._connection.commit()

    @contextmanager
    def _tolerating_faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                self._replace_file(error)
            elif not isinstance(error, sqlite3.OperationalError):
                raise
            else:
                self._working = False
                logger.warning("%s cannot be used any more (%s); going on without it", self._path, error)

    def _open(self) -> None:
        if self._folder is None:
            self._path: Path | None = None
            self._connect("")  # SQLite's own temporary file
            return
        with self._locked(self._folder):
            number = max(_numbers(self._folder), default=1)
            self._path = self._folder / f"embeddings-{number}.sqlite3"
            try:
                self._connect(str(self._path))
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise StoreUnavailable(f"{self._path} cannot be opened: {error}. Name another folder.") from error
                self._start_file(number + 1, error)

    def _replace_file(self, error: sqlite3.DatabaseError) -> None:
        """Leave a damaged file; another process may have done so already, and then its new file is used."""
        self._connection.close()
        if self._folder is None or self._path is None:
            self._working = False
            return
        left = int(self._path.stem.rpartition("-")[2])
        with self._locked(self._folder):
            newest = max(_numbers(self._folder), default=left)
            if newest > left:
                self._path = self._folder / f"embeddings-{newest}.sqlite3"
                self._connect(str(self._path))
            else:
                self._start_file(left + 1, error)

    def _start_file(self, number: int, error: sqlite3.DatabaseError) -> None:
        if self._folder is None:
            return
        damaged = self._path
        self.damaged += 1
        self._path = self._folder / f"embeddings-{number}.sqlite3"
        logger.warning("%s is damaged (%s); its vectors are computed anew into %s", damaged, error, self._path)
        self._connect(str(self._path))
        for path in self._folder.glob(f"embeddings-{number - 1}.sqlite3*"):
            path.unlink()

    def _connect(self, path: str) -> None:
        self._connection = sqlite3.connect(path, timeout=_SECONDS_TO_WAIT, isolation_level=None)
        try:
            self._connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(_SCHEMA)
            newest = self._connection.execute("SELECT MAX(used) FROM entries").fetchone()[0]
        except sqlite3.DatabaseError:
            self._connection.close()
            raise
        self._turn = (newest or 0) + 1

    @contextmanager
    def _locked(self, folder: Path) -> Iterator[None]:
        """Only one process opens, or gives up, a file of the store at a time."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / _LOCK_FILE).open("a")
        except OSError as error:
            raise StoreUnavailable(
                f"The embedding store cannot be kept in {folder}: {error.strerror}. Name another folder."
            ) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _numbers(folder: Path) -> list[int]:
    return [int(match[1]) for path in folder.iterdir() if (match := _FILE.fullmatch(path.name))]


def _checksum(name: bytes, vector: bytes) -> bytes:
    return hashlib.blake2b(name + vector, digest_size=_CHECKSUM_BYTES).digest()


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY_CODE in _DAMAGE

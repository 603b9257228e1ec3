"""Repositories in a folder: what each holds, and the commit that its content stands for."""

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

SETTINGS_NAME = ".hub.json"
REVISIONS_NAME = ".revisions"
MAIN = "main"
DATASETS_NAME = "datasets"  # where data sets lie below a root, as in the addresses of a hub; no owner's name
LARGE_FILE_BYTES = 10_000_000
_WEIGHT_SUFFIXES = frozenset({".safetensors", ".bin", ".pt", ".pth", ".pkl", ".ckpt", ".onnx", ".h5", ".msgpack"})
_ARCHIVE_SUFFIXES = frozenset({".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz"})
LARGE_FILE_SUFFIXES = _WEIGHT_SUFFIXES | _ARCHIVE_SUFFIXES

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CHUNK_BYTES = 1 << 20


class RepositorySettingsError(Exception):
    """A repository's `.hub.json` cannot be used."""


@dataclass(frozen=True, slots=True)
class RepositorySettings:
    """Who may read a repository. `gated` is empty, "auto" or "manual"; `readers` are the tokens that are let in."""

    gated: str = ""
    private: bool = False
    readers: frozenset[str] = frozenset()

    @classmethod
    def read(cls, folder: Path) -> "RepositorySettings":
        """Read `.hub.json`, e.g. `{"gated": "manual", "private": false, "readers": ["a-token"]}`.

        Raises:
            RepositorySettingsError: the file is not JSON, or a key or value is unknown.

        """
        path = folder / SETTINGS_NAME
        if not path.exists():
            return cls()
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise RepositorySettingsError(f"{path} is not JSON: {error}") from error
        if not isinstance(values, dict) or values.keys() - {"gated", "private", "readers"}:
            raise RepositorySettingsError(f"{path} may hold only the keys gated, private and readers")
        gated, private, readers = values.get("gated", ""), values.get("private", False), values.get("readers", [])
        if gated not in ("", "auto", "manual"):
            raise RepositorySettingsError(f'{path}: gated is "", "auto" or "manual", not {gated!r}')
        if not isinstance(private, bool):
            raise RepositorySettingsError(f"{path}: private is true or false, not {private!r}")
        if not isinstance(readers, list) or not all(isinstance(reader, str) for reader in readers):
            raise RepositorySettingsError(f"{path}: readers is a list of tokens")
        return cls(gated=gated, private=private, readers=frozenset(readers))


@dataclass(frozen=True, slots=True)
class HubFile:
    """One file of a revision. `blob_id` is its git object id; `sha256` is its digest; `large` files are LFS files."""

    path: str
    source: Path
    size: int
    blob_id: str
    sha256: str
    large: bool

    @property
    def etag(self) -> str:
        """The hub's entity tag: SHA-256 of an LFS file, else the git object id."""
        return self.sha256 if self.large else self.blob_id


@dataclass(frozen=True)
class Revision:
    """The files of a repository at one commit, keyed by path and in the order of their paths."""

    commit: str
    files: Mapping[str, HubFile]

    @cached_property
    def folders(self) -> Mapping[str, str]:
        """Every folder's path, and an id made from what lies in it."""
        contents: dict[str, list[str]] = {}
        for file in self.files.values():
            parts = file.path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                contents.setdefault("/".join(parts[:depth]), []).append(f"{file.path} {file.sha256}")
        return {path: _digest(lines) for path, lines in sorted(contents.items())}


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with its settings and its revisions: `main`, and older ones kept in `.revisions/<commit>/`."""

    repo_id: str
    settings: RepositorySettings
    main: Revision
    older: Mapping[str, Path]


class RepositoryStore:
    """Reads repositories below a root. A file is hashed once; it is hashed again when its size or time changes.

    A folder called `reserved` at the top of the root is no owner.
    """

    def __init__(self, root: Path, *, reserved: str = "") -> None:
        self.root = root
        self._reserved = reserved
        self._hashes: dict[tuple[Path, int, int], tuple[str, str]] = {}
        self._lock = threading.Lock()

    def repo_ids(self) -> list[str]:
        """The ids of all repositories, sorted."""
        found = [f"{folder.parent.name}/{folder.name}" for folder in self.root.glob("*/*") if folder.is_dir()]
        return sorted(repo_id for repo_id in found if self._is_repo_id(repo_id))

    def find(self, repo_id: str) -> Repository | None:
        """The repository, or None where there is none of that id."""
        if not self._is_repo_id(repo_id):
            return None
        folder = self.root / repo_id
        if not folder.is_dir():
            return None
        kept = folder / REVISIONS_NAME
        older = {path.name: path for path in kept.glob("*") if path.is_dir() and _COMMIT.fullmatch(path.name)}
        settings = RepositorySettings.read(folder)
        return Repository(repo_id=repo_id, settings=settings, main=self._revision(folder), older=older)

    def revision(self, repository: Repository, name: str) -> Revision | None:
        """Resolve "main" or a commit, or return None."""
        if name in (MAIN, repository.main.commit):
            return repository.main
        folder = repository.older.get(name)
        return None if folder is None else self._revision(folder, commit=name)

    def _is_repo_id(self, repo_id: str) -> bool:
        owner, separator, name = repo_id.partition("/")
        return bool(separator and owner != self._reserved and _SEGMENT.fullmatch(owner) and _SEGMENT.fullmatch(name))

    def _revision(self, folder: Path, *, commit: str = "") -> Revision:
        files = [self._hub_file(source, path) for path, source in sorted(_served_files(folder))]
        content = _digest(f"{file.path} {file.sha256}" for file in files)
        return Revision(commit=commit or content, files={file.path: file for file in files})

    def _hub_file(self, source: Path, path: str) -> HubFile:
        size, blob_id, sha256 = self._hash(source)
        large = size > LARGE_FILE_BYTES or source.suffix in LARGE_FILE_SUFFIXES
        return HubFile(path=path, source=source, size=size, blob_id=blob_id, sha256=sha256, large=large)

    def _hash(self, source: Path) -> tuple[int, str, str]:
        status = source.stat()
        key = (source, status.st_size, status.st_mtime_ns)
        with self._lock:
            if key not in self._hashes:
                self._hashes[key] = _hash_file(source, status.st_size)
            return status.st_size, *self._hashes[key]


def _served_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Paths and files below a folder, without what is the server's own. Linked folders are not entered."""
    for parent, folders, names in os.walk(folder):
        is_top = Path(parent) == folder
        folders[:] = [name for name in folders if not (is_top and name == REVISIONS_NAME)]
        for name in names:
            source = Path(parent, name)
            if name != SETTINGS_NAME and source.is_file():
                yield source.relative_to(folder).as_posix(), source


def _hash_file(source: Path, size: int) -> tuple[str, str]:
    # git hashes a header and the content with SHA-1: https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
    blob = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    sha256 = hashlib.sha256()
    with source.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            blob.update(chunk)
            sha256.update(chunk)
    return blob.hexdigest(), sha256.hexdigest()


def _digest(lines: Iterator[str] | list[str]) -> str:
    return hashlib.sha1("\n".join(lines).encode(), usedforsecurity=False).hexdigest()

"""Where a release comes from: a data set repository on a hub, or a folder. Both give files one by one.

A file is written under a temporary name below `.install` and renamed once its size and hash are right. What a broken
transfer left there is taken up again; its name says which content it is part of.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from huggingface_hub import RepoFile

from evaluation.errors import SuiteInvalid
from evaluation.hub.connection import COMMIT, DATASET, HubConnection, translated_errors
from evaluation.hub.errors import DownloadFailed, HubUnavailable

WORK_FOLDER = ".install"
_PARTIAL_CONTENT = 206
_CHUNK_BYTES = 1 << 20

OnBytes = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class ReleaseFile:
    """A file of a release. `sha256` is that of its content, `blob_id` its git object id; either may be ""."""

    path: str
    size: int
    sha256: str = ""
    blob_id: str = ""


class ReleaseSource(Protocol):
    """A release at one revision."""

    name: str
    revision: str
    files: Mapping[str, ReleaseFile]

    def has_same(self, file: ReleaseFile, path: Path) -> bool:
        """Whether the file at `path` has the content of the release's file."""

    def fetch(self, file: ReleaseFile, folder: Path, on_bytes: OnBytes) -> None:
        """Put a file at its path below `folder`; `on_bytes` hears how many bytes more are there."""


class HubRelease:
    """A data set repository at one commit."""

    def __init__(self, connection: HubConnection, repo_id: str, revision: str = "") -> None:
        """Resolve a branch, tag or commit ("" is the main branch) and list the files there.

        Raises:
            HubUnavailable, RepositoryMissing, RepositoryGated, RepositoryForbidden, RevisionMissing.
        """
        self._connection = connection
        self._repo_id = repo_id
        api = connection.api
        with translated_errors(repo_id, revision, repo_type=DATASET):
            commit = api.dataset_info(
                repo_id, revision=revision or None, timeout=connection.timeout, expand=["sha"]
            ).sha
            if not COMMIT.fullmatch(commit or ""):
                raise HubUnavailable(f"The hub names no commit for {repo_id}; try again later.")
            entries = api.list_repo_tree(repo_id, recursive=True, revision=commit, repo_type=DATASET)
            files = [_release_file(entry) for entry in entries if isinstance(entry, RepoFile)]
        self.name = repo_id
        self.revision = commit or ""
        self.files: Mapping[str, ReleaseFile] = {file.path: file for file in files}

    def has_same(self, file: ReleaseFile, path: Path) -> bool:
        """Whether size and hash are those that the hub lists."""
        return path.is_file() and path.stat().st_size == file.size and _has_hash(path, file)

    def fetch(self, file: ReleaseFile, folder: Path, on_bytes: OnBytes) -> None:
        """Download a file, or the rest of it, and check it.

        Raises:
            DownloadFailed: it could not be stored, or it is not what the hub lists.
            EvaluationError: the hub does not give it; see `translate`.
        """
        partial = folder / WORK_FOLDER / f"{_path_digest(file)}-{file.sha256 or file.blob_id}.partial"
        try:
            partial.parent.mkdir(parents=True, exist_ok=True)
            self._download(file, partial, on_bytes)
            if not _has_hash(partial, file):
                partial.unlink()
                raise DownloadFailed(f"{file.path} of {self._repo_id} arrived damaged. Install again.")
            _move(partial, folder / file.path)
        except OSError as error:
            raise DownloadFailed(f"{file.path} could not be stored: {error}. Make room and install again.") from error

    def _download(self, file: ReleaseFile, partial: Path, on_bytes: OnBytes) -> None:
        """Read until the file is whole; a connection that breaks is taken up again as long as it brings something."""
        with partial.open("ab") as stream:
            have = stream.tell()
            on_bytes(have)
            while have < file.size:
                broken = self._read_on(file, stream, on_bytes)
                now = stream.tell()
                if broken and now <= have:
                    raise broken
                if now <= have or now > file.size:
                    stream.truncate(0)
                    raise DownloadFailed(f"{file.path} of {self._repo_id} has not the length that the hub says.")
                have = now

    def _read_on(self, file: ReleaseFile, stream: IO[bytes], on_bytes: OnBytes) -> HubUnavailable | None:
        """Append what the hub still sends of a file; the error is returned if the connection broke on the way."""
        start = stream.tell()
        try:
            with self._connection.content(
                self._repo_id, file.path, self.revision, repo_type=DATASET, start=start
            ) as response:
                if start and response.status_code != _PARTIAL_CONTENT:
                    on_bytes(-start)
                    stream.truncate(0)
                    stream.seek(0)
                for chunk in response.iter_bytes(_CHUNK_BYTES):
                    _write(stream, chunk, file)
                    on_bytes(len(chunk))
        except HubUnavailable as error:
            return error
        return None


class FolderRelease:
    """A folder in the release's layout, such as a copy that somebody else downloaded."""

    def __init__(self, folder: Path, revision: str = "") -> None:
        """List the files of a folder; `revision` is kept for the record.

        Raises:
            SuiteInvalid: there is no such folder.
        """
        if not folder.is_dir():
            raise SuiteInvalid(f"{folder} is not a folder. Name one in the layout of the release, or 'hub'.")
        self._folder = folder
        self.name = "folder"
        self.revision = revision
        self.files: Mapping[str, ReleaseFile] = {file.path: file for file in _files_below(folder)}

    def has_same(self, file: ReleaseFile, path: Path) -> bool:
        """Whether it is the same file, or one of the same bytes."""
        if not path.is_file() or path.stat().st_size != file.size:
            return False
        source = self._folder / file.path
        return path.samefile(source) or _sha256(path) == _sha256(source)

    def fetch(self, file: ReleaseFile, folder: Path, on_bytes: OnBytes) -> None:
        """Give the file a second name where both folders are on one disk; copy it otherwise.

        Raises:
            SuiteInvalid: the file is a link that leads out of the source.
            DownloadFailed: it could not be stored.
        """
        real = Path(os.path.realpath(self._folder / file.path))
        if not real.is_relative_to(os.path.realpath(self._folder)):
            raise SuiteInvalid(
                f"{self._folder / file.path} leads out of the folder through a link. Copy the file there."
            )
        partial = folder / WORK_FOLDER / f"{_path_digest(file)}.copy"
        try:
            partial.parent.mkdir(parents=True, exist_ok=True)
            partial.unlink(missing_ok=True)
            try:
                partial.hardlink_to(real)
            except OSError:
                shutil.copyfile(real, partial)
            _move(partial, folder / file.path)
        except OSError as error:
            raise DownloadFailed(f"{file.path} could not be stored: {error}. Make room and install again.") from error
        on_bytes(file.size)


def _release_file(entry: RepoFile) -> ReleaseFile:
    lfs: Any = entry.lfs
    return ReleaseFile(
        path=entry.path,
        size=entry.size,
        sha256="" if lfs is None else lfs.sha256,
        blob_id=entry.blob_id,
    )


def _files_below(folder: Path) -> list[ReleaseFile]:
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file():
                found.append(ReleaseFile(path.relative_to(folder).as_posix(), path.stat().st_size))
    return found


def _has_hash(path: Path, file: ReleaseFile) -> bool:
    """Compare with the sha256 where the hub gives it, else with the git object id (a SHA-1 of header and content)."""
    if file.sha256:
        return _sha256(path) == file.sha256
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest() == file.blob_id


def _path_digest(file: ReleaseFile) -> str:
    return hashlib.sha256(file.path.encode()).hexdigest()[:16]


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write(stream: IO[bytes], chunk: bytes, file: ReleaseFile) -> None:
    """Write, so that a full disk is not taken for a fault of the connection."""
    try:
        stream.write(chunk)
    except OSError as error:
        raise DownloadFailed(f"{file.path} could not be stored: {error}. Make room and install again.") from error


def _move(partial: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial.replace(path)

"""The HTTP side of the local hub: paths, permissions, byte ranges and the headers that clients check."""

import json
import logging
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from workers.local_hub import answers
from workers.local_hub.repository import (
    DATASETS_NAME,
    MAIN,
    HubFile,
    Repository,
    RepositorySettings,
    RepositorySettingsError,
    RepositoryStore,
    Revision,
)

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
PAGE_SIZE = 1000
MAX_BODY_BYTES = 1_000_000

_API = re.compile(
    r"/api/(?P<kind>models|datasets)/(?P<repo>[^/]+/[^/]+)(?:/(?P<verb>revision|tree|paths-info)/(?P<rest>.+))?"
)
_RESOLVE = re.compile(r"/(?P<kind>datasets/)?(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)")
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_NUMBER = re.compile(r"[0-9]{1,18}")


class HubError(Exception):
    """An answer that is an error. `code` goes into the header by which clients tell errors apart."""

    def __init__(self, status: HTTPStatus, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


class LocalHub(ThreadingHTTPServer):
    """The server. `serve_forever` serves until `shutdown` is called from another thread."""

    daemon_threads = True

    def __init__(self, root: Path, *, host: str = LOOPBACK, port: int = 0) -> None:
        super().__init__((host, port), _Handler)
        self.models = RepositoryStore(root, reserved=DATASETS_NAME)
        self.datasets = RepositoryStore(root / DATASETS_NAME)

    @property
    def endpoint(self) -> str:
        """The address to give to a client, e.g. `http://127.0.0.1:8080`."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"


@contextmanager
def running_hub(root: Path, *, port: int = 0) -> Iterator[LocalHub]:
    """Serve a folder of repositories on loopback while the block runs. Port 0 takes a free one."""
    with LocalHub(root, port=port) as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.02}, name="local-hub")
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: LocalHub
    timeout = 60

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the signature of http.server
        logger.debug(format, *args)

    def _answer(self) -> None:
        try:
            body = self._read_body()
            self._route(body)
        except HubError as error:
            self._send_error(error)
        except RepositorySettingsError as error:
            self._send_error(HubError(HTTPStatus.INTERNAL_SERVER_ERROR, "", str(error)))
        except ConnectionError:
            self.close_connection = True

    def _read_body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if not _NUMBER.fullmatch(length) or int(length) > MAX_BODY_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise HubError(HTTPStatus.BAD_REQUEST, "", f"A body has a Content-Length of at most {MAX_BODY_BYTES}")
        return self.rfile.read(int(length))

    def _route(self, body: bytes) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if (self.command == "POST") != ("/paths-info/" in url.path):
            raise HubError(HTTPStatus.METHOD_NOT_ALLOWED, "", f"{self.command} is not for this page")
        if url.path == "/api/models":
            self._send_json([{"id": repo_id} for repo_id in self._public_ids()])
        elif match := _RESOLVE.fullmatch(url.path):
            store = self.server.datasets if match["kind"] else self.server.models
            repository = self._repository(store, unquote(match["repo"]))
            self._check_gate(repository)
            revision = self._revision(store, repository, unquote(match["revision"]))
            self._send_file(revision, unquote(match["path"]))
        elif match := _API.fullmatch(url.path):
            self._route_api(match, query=query, body=body)
        else:
            raise HubError(HTTPStatus.NOT_FOUND, "", "This hub serves repositories of models and data sets only")

    def _route_api(self, match: re.Match[str], *, query: Mapping[str, list[str]], body: bytes) -> None:
        is_dataset = match["kind"] == DATASETS_NAME
        store = self.server.datasets if is_dataset else self.server.models
        repository = self._repository(store, unquote(match["repo"]))
        verb = match["verb"] or ""
        name, _, folder = (match["rest"] or MAIN).partition("/")
        revision = self._revision(store, repository, unquote(name))
        if verb == "tree":
            self._send_tree(revision, unquote(folder), query=query)
        elif folder:
            raise HubError(HTTPStatus.NOT_FOUND, "", "No such page")
        elif verb == "paths-info":
            paths = parse_qs(body.decode(errors="replace")).get("paths", [])
            self._send_json(answers.paths_info(revision, paths))
        else:
            with_blobs = _is_true(query, "blobs")
            expand = query.get("expand", [])
            answer = answers.dataset_info if is_dataset else answers.model_info
            self._send_json(answer(repository, revision, with_blobs=with_blobs, expand=expand))

    def _token(self) -> str:
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token if scheme.lower() == "bearer" else ""

    def _public_ids(self) -> list[str]:
        store = self.server.models
        return [repo_id for repo_id in store.repo_ids() if not RepositorySettings.read(store.root / repo_id).private]

    def _repository(self, store: RepositoryStore, repo_id: str) -> Repository:
        repository = store.find(repo_id)
        if repository is None:
            raise HubError(HTTPStatus.NOT_FOUND, "RepoNotFound", "Repository not found")
        if repository.settings.private and self._token() not in repository.settings.readers:
            # To a stranger a private repository looks as if it did not exist; who has no token is asked for one.
            status = HTTPStatus.NOT_FOUND if self._token() else HTTPStatus.UNAUTHORIZED
            raise HubError(status, "RepoNotFound", "Repository not found")
        return repository

    def _check_gate(self, repository: Repository) -> None:
        if not repository.settings.gated or self._token() in repository.settings.readers:
            return
        status = HTTPStatus.FORBIDDEN if self._token() else HTTPStatus.UNAUTHORIZED
        message = f"Access to {repository.repo_id} is restricted and its owner has not let you in"
        raise HubError(status, "GatedRepo", message)

    def _revision(self, store: RepositoryStore, repository: Repository, name: str) -> Revision:
        revision = store.revision(repository, name)
        if revision is None:
            raise HubError(HTTPStatus.NOT_FOUND, "RevisionNotFound", f"Invalid rev id: {name}")
        return revision

    def _send_tree(self, revision: Revision, folder: str, *, query: Mapping[str, list[str]]) -> None:
        entries = answers.tree(revision, folder, recursive=_is_true(query, "recursive"))
        if entries is None:
            raise HubError(HTTPStatus.NOT_FOUND, "EntryNotFound", f"{folder} does not exist")
        start = _number(query, "cursor", default=0)
        limit = min(_number(query, "limit", default=PAGE_SIZE), PAGE_SIZE) or PAGE_SIZE
        headers = {}
        if start + limit < len(entries):
            following = urlencode({**{key: values[-1] for key, values in query.items()}, "cursor": start + limit})
            headers["Link"] = f'<http://{self.headers["Host"]}{urlsplit(self.path).path}?{following}>; rel="next"'
        self._send_json(entries[start : start + limit], headers=headers)

    def _send_file(self, revision: Revision, path: str) -> None:
        file = revision.files.get(path)
        if file is None:
            error = HubError(HTTPStatus.NOT_FOUND, "EntryNotFound", "Entry not found")
            self._send_error(error, headers={"X-Repo-Commit": revision.commit})
            return
        headers = _file_headers(file, revision)
        wanted = _parse_range(self.headers.get("Range", ""), file.size)
        if wanted is None:
            error = HubError(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "", "The file has no such bytes")
            self._send_error(error, headers={**headers, "Content-Range": f"bytes */{file.size}"})
            return
        status = HTTPStatus.OK
        if wanted != range(file.size):
            status = HTTPStatus.PARTIAL_CONTENT
            headers["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{file.size}"
        with file.source.open("rb") as stream:
            self._send_head(status, len(wanted), "application/octet-stream", headers=headers)
            if self.command != "HEAD" and wanted:
                self.connection.sendfile(stream, wanted.start, len(wanted))

    def _send_json(self, value: Any, *, headers: Mapping[str, str] | None = None) -> None:
        self._send_text(HTTPStatus.OK, json.dumps(value), headers=headers or {})

    def _send_error(self, error: HubError, *, headers: Mapping[str, str] | None = None) -> None:
        named = {"X-Error-Message": quote(error.message, safe=" :/,.'")}
        if error.code:
            named["X-Error-Code"] = error.code
        self._send_text(error.status, json.dumps({"error": error.message}), headers={**(headers or {}), **named})

    def _send_text(self, status: HTTPStatus, text: str, *, headers: Mapping[str, str]) -> None:
        content = text.encode()
        self._send_head(status, len(content), "application/json; charset=utf-8", headers=headers)
        if self.command != "HEAD":
            self.wfile.write(content)

    def _send_head(self, status: HTTPStatus, length: int, kind: str, *, headers: Mapping[str, str]) -> None:
        sent = 0 if self.command == "HEAD" else length
        logger.info("%s %s %d %d", self.command, self.path, status, sent)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _file_headers(file: HubFile, revision: Revision) -> dict[str, str]:
    headers = {"X-Repo-Commit": revision.commit, "ETag": f'"{file.etag}"', "Accept-Ranges": "bytes"}
    if file.large:
        headers |= {"X-Linked-ETag": f'"{file.etag}"', "X-Linked-Size": str(file.size)}
    return headers


def _parse_range(header: str, size: int) -> range | None:
    """The bytes that a Range header asks for; all where it asks for none, None where the file lacks them.

    A header that is not one range of bytes is ignored, as RFC 9110 section 14.2 allows.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return range(size)
    first, last = match.groups()
    if not first:
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
    return range(start, stop) if start < stop else None


def _is_true(query: Mapping[str, list[str]], name: str) -> bool:
    return query.get(name, [""])[-1].lower() in ("true", "1")


def _number(query: Mapping[str, list[str]], name: str, *, default: int) -> int:
    text = query.get(name, [str(default)])[-1]
    if not _NUMBER.fullmatch(text):
        raise HubError(HTTPStatus.BAD_REQUEST, "", f"{name} is a number, not {text}")
    return int(text)

"""Pages that are the same for every visitor who is not signed in: made once for each state of the boards.

What such a page shows changes only with the boards (`BoardsState`), so a request costs one query as long as it is kept.
It is answered with a digest of its content as ETag, compressed as the browser likes best. Nothing on it is secret and
nothing a visitor sends comes back beside a secret, so compressing it gives nothing away; pages of people who are signed
in are never kept, and the framework's own compression, which hides lengths, is theirs.
"""

import functools
import gzip
import hashlib
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import brotli
from cachetools import LRUCache
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.cache import patch_vary_headers
from django.utils.http import parse_etags, quote_etag

from leaderboard.selectors.board_tables import BoardsState, boards_state

KEPT_BYTES = 64 * 1024**2
"""What a process keeps of pages."""
LARGEST_KEPT = 4 * 1024**2
BROTLI_QUALITY = 6
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": functools.partial(brotli.compress, quality=BROTLI_QUALITY),
    "gzip": functools.partial(gzip.compress, compresslevel=6, mtime=0),
}
"""The encodings that are offered, the best first."""
View = Callable[..., HttpResponse]
STATE = "boards_state"
"""The attribute of a request and of an answer that holds the state of the boards which the answer shows."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer and the state that it shows; `encoded` fills with its compressed forms."""

    state: BoardsState
    body: bytes
    headers: dict[str, str]
    etag: str
    encoded: dict[str, bytes] = field(default_factory=dict)


_pages: LRUCache[tuple[str, str], _Kept] = LRUCache(KEPT_BYTES, getsizeof=lambda kept: 2 * len(kept.body))
_lock = threading.Lock()


def kept_for_everybody(view: View) -> View:
    """A view of boards whose answers `KeptPages` may keep for visitors who are not signed in."""

    @functools.wraps(view)
    def answer(request: HttpRequest, **arguments: str) -> HttpResponse:
        if not _is_anybody(request):
            return view(request, **arguments)
        state = getattr(request, STATE, None) or boards_state()
        response = view(request, **arguments)
        if response.status_code == HTTPStatus.OK and len(response.content) <= LARGEST_KEPT:
            setattr(response, STATE, state)
        return response

    return answer


class KeptPages:
    """Middleware that answers from what is kept. It stands before all that looks at who is asking."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """A kept answer if there is one of the present state, and else a new one, which is kept where a view allows it."""
        if not _is_anybody(request):
            return self._get_response(request)
        address = (request.get_host(), request.get_full_path())
        with _lock:
            kept = _pages.get(address)
        if kept is not None:
            setattr(request, STATE, boards_state())
            if kept.state == getattr(request, STATE):
                return _answer_of(kept, request)
        response = self._get_response(request)
        state = getattr(response, STATE, None)
        if state is None or response.cookies:
            return response
        kept = _keep(response, state)
        with _lock:
            _pages[address] = kept
        return _answer_of(kept, request)


def _is_anybody(request: HttpRequest) -> bool:
    """Whether a request comes from nobody in particular: no session, and no message for the visitor."""
    return request.method in {"GET", "HEAD"} and not (
        request.COOKIES.keys() & {settings.SESSION_COOKIE_NAME, "messages"}
    )


def _keep(response: HttpResponse, state: BoardsState) -> _Kept:
    headers = {name: value for name, value in response.items() if name != "Content-Length"}
    return _Kept(state, response.content, headers, hashlib.sha256(response.content).hexdigest()[:32])


def _answer_of(kept: _Kept, request: HttpRequest) -> HttpResponse:
    encoding = _encoding(request)
    etag = quote_etag(f"{kept.etag}-{encoding}" if encoding else kept.etag)
    if _is_known(etag, request):
        response: HttpResponse = HttpResponseNotModified(headers=_without_type(kept.headers))
    else:
        response = HttpResponse(_encoded(kept, encoding), headers=kept.headers)
        if encoding:
            response["Content-Encoding"] = encoding
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
    return response


def _without_type(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in {"Content-Type", "Content-Disposition"}}


def _is_known(etag: str, request: HttpRequest) -> bool:
    """Whether the browser has this very answer; a proxy may have made the tag a weak one."""
    known = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in known or etag in [tag.removeprefix("W/") for tag in known]


def _encoding(request: HttpRequest) -> str:
    """The best encoding that the browser accepts; empty for none."""
    accepted = {}
    for part in request.headers.get("Accept-Encoding", "").split(","):
        name, _, quality = part.partition(";")
        accepted[name.strip().lower()] = quality.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return next((name for name in ENCODERS if accepted.get(name, False)), "")


def _encoded(kept: _Kept, encoding: str) -> bytes:
    if not encoding:
        return kept.body
    if encoding not in kept.encoded:
        kept.encoded[encoding] = ENCODERS[encoding](kept.body)
    return kept.encoded[encoding]

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
from collections.abc import Callable
from dataclasses import dataclass, field

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
COPIED_HEADERS = ("Content-Type", "Content-Disposition")
BROTLI_QUALITY = 6
ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": functools.partial(brotli.compress, quality=BROTLI_QUALITY),
    "gzip": functools.partial(gzip.compress, compresslevel=6, mtime=0),
}
View = Callable[..., HttpResponse]
"""The encodings that are offered, the best first."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer; `encoded` fills with its compressed forms."""

    body: bytes
    headers: dict[str, str]
    etag: str
    encoded: dict[str, bytes] = field(default_factory=dict)


_pages: LRUCache[tuple[BoardsState, str, str], _Kept] = LRUCache(KEPT_BYTES, getsizeof=lambda kept: 2 * len(kept.body))
_lock = threading.Lock()


def kept_for_everybody(view: View) -> View:
    """A view of boards whose answers to visitors who are not signed in are kept."""

    @functools.wraps(view)
    def answer(request: HttpRequest, **arguments: str) -> HttpResponse:
        if not _is_anybody(request):
            return view(request, **arguments)
        key = (boards_state(), request.get_host(), request.get_full_path())
        with _lock:
            kept = _pages.get(key)
        if kept is None:
            response = view(request, **arguments)
            if response.status_code != HTTP_OK or len(response.content) > LARGEST_KEPT:
                return response
            kept = _keep(response)
            with _lock:
                _pages[key] = kept
        return _answer_of(kept, request)

    return answer


HTTP_OK = 200


def _is_anybody(request: HttpRequest) -> bool:
    """Whether a request comes from nobody in particular: no session, and no message for the visitor."""
    return request.method in {"GET", "HEAD"} and not (
        request.COOKIES.keys() & {settings.SESSION_COOKIE_NAME, "messages"}
    )


def _keep(response: HttpResponse) -> _Kept:
    headers = {name: response[name] for name in COPIED_HEADERS if name in response}
    return _Kept(response.content, headers, hashlib.sha256(response.content).hexdigest()[:32])


def _answer_of(kept: _Kept, request: HttpRequest) -> HttpResponse:
    encoding = _encoding(request)
    etag = quote_etag(f"{kept.etag}-{encoding}" if encoding else kept.etag)
    if _is_known(etag, request):
        response: HttpResponse = HttpResponseNotModified()
    else:
        response = HttpResponse(_encoded(kept, encoding), headers=kept.headers)
        if encoding:
            response["Content-Encoding"] = encoding
    response["ETag"] = etag
    response["Cache-Control"] = "no-cache"
    patch_vary_headers(response, ["Accept-Encoding", "Cookie"])
    return response


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

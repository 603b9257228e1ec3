"""What surrounds the panel on the wire: who may frame it, how much may be sent to it, and how often."""

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import redis

from workers.demo.limits import MAX_TOTAL_BYTES, UPLOADS_A_MINUTE
from workers.demo.rates import RateLimit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

UPLOADS = RateLimit("uploads", UPLOADS_A_MINUTE)
_ROOM_FOR_HEADS = 1024**2
_OTHER_BYTES = 1024**2
_UPLOAD_PATH = "/upload"


class TooMuch(Exception):
    """A body went beyond its limit while it was received."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """An ASGI application around another. `framers` are the origins that may show the panel in a frame."""

    inner: Application
    client: "redis.Redis"
    framers: str

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 413 or 429."""
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return
        is_upload = scope["method"] == "POST" and scope["path"].endswith(_UPLOAD_PATH)
        limit = MAX_TOTAL_BYTES + _ROOM_FOR_HEADS if is_upload else _OTHER_BYTES
        if is_upload and not self._allows(scope):
            await _refuse(send, 429, "Too many uploads from one address. Wait a minute.")
            return
        if _announced(scope) > limit:
            await _refuse(send, 413, "The files are too large together.")
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > limit:
                raise TooMuch(f"a body of more than {limit:,} bytes was given up")
            return message

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers()]
            await send(message)

        await self.inner(scope, counted, headed)

    def _allows(self, scope: Message) -> bool:
        address = scope["client"][0] if scope.get("client") else ""
        return UPLOADS.allows(self.client, address)

    def _headers(self) -> list[tuple[bytes, bytes]]:
        # Gradio's page builds itself with inline scripts and styles; whatever it loads comes from here.
        policy = (
            "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' blob: data:; worker-src 'self' blob:; "
            f"object-src 'none'; base-uri 'self'; form-action 'self'; frame-ancestors {self.framers}"
        )
        return [
            (b"content-security-policy", policy.encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
        ]


def _announced(scope: Message) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


async def _refuse(send: Send, status: int, words: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words.encode()})

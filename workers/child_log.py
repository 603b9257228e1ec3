"""What a child prints for people: kept within bounds, and shown without what is nobody's business."""

import logging
import re
from collections import deque
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
EXCERPT_BYTES = 64 * 1024

logger = logging.getLogger(__name__)

_PIECE_BYTES = 64 * 1024
_UNSHOWN = re.compile(r"[^\t\n -~\xa0-\U0010ffff]")
_SECRETS = (
    (re.compile(r"\bhf_[A-Za-z0-9]{8,}"), "[token]"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), r"\1 [token]"),
    (re.compile(r"\b([a-z][a-z0-9+.-]*://)[^\s/@]+@"), r"\1[credentials]@"),
    (re.compile(r"(?i)\b([\w-]*(?:password|secret|token|api[_-]?key)[\w-]*\s*[=:]\s*)[^\s,;]+"), r"\1[hidden]"),
)
_FOLDER = re.compile(r"(?<![\w.:/])/(?:[^\s/'\"():,]+/)+")


class BoundedLog:
    """Copies a stream into a file: the beginning as it comes, and of what is too much the end.

    A file that cannot be written, on a full disk, is given up after a warning: whoever writes the stream must not have to
    wait for it.
    """

    def __init__(self, path: Path, *, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._path = path
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes
        self._is_working = True

    def copy(self, stream: BufferedReader, *, most_bytes: int) -> bool:
        """Copy until the stream ends or more than `most_bytes` have come; returns whether all was read."""
        left, seen = self._head_bytes, 0
        tail: deque[bytes] = deque()
        while seen <= most_bytes and (piece := stream.read1(_PIECE_BYTES)):
            seen += len(piece)
            self._append(piece[:left])
            self._keep_end(tail, piece[left:])
            left = max(0, left - len(piece))
        end = b"".join(tail)[-self._tail_bytes :]
        left_out = seen - (self._head_bytes - left) - len(end)
        self._append(f"\n[{left_out} bytes left out]\n".encode() if left_out else b"")
        self._append(end)
        return seen <= most_bytes

    def _append(self, piece: bytes) -> None:
        if not self._is_working:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                file.write(piece)
        except OSError as error:
            self._is_working = False
            logger.warning("%s is not kept any more: %s", self._path.name, error.strerror)

    def _keep_end(self, tail: deque[bytes], piece: bytes) -> None:
        tail.append(piece)
        while sum(map(len, tail)) - len(tail[0]) >= self._tail_bytes:
            tail.popleft()


def log_excerpt(path: Path, *, secrets: Iterable[str] = ()) -> str:
    """The end of a child's log as its submitter may see it; "" where there is none.

    Folders of the machine, tokens, passwords, the given secrets and control characters are taken out.
    """
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - EXCERPT_BYTES))
        return redacted(file.read().decode("utf-8", errors="replace"), secrets=secrets)


def redacted(text: str, *, secrets: Iterable[str] = ()) -> str:
    """A text for people outside: without folders of this machine, without secrets, without control characters."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[hidden]")
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return _FOLDER.sub("", _UNSHOWN.sub("", text))

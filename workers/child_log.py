"""What a child prints for people: kept within bounds, and shown without what is nobody's business."""

import re
from collections import deque
from collections.abc import Iterable
from io import BufferedReader
from pathlib import Path

HEAD_BYTES = 256 * 1024
TAIL_BYTES = 64 * 1024
EXCERPT_BYTES = 64 * 1024

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

    `copy` runs until the stream ends or more than `most_bytes` have come; it returns whether all was read.
    """

    def __init__(self, path: Path, *, head_bytes: int = HEAD_BYTES, tail_bytes: int = TAIL_BYTES) -> None:
        self._path = path
        self._head_bytes = head_bytes
        self._tail_bytes = tail_bytes

    def copy(self, stream: BufferedReader, *, most_bytes: int) -> bool:
        """Copy, see the class."""
        left, seen = self._head_bytes, 0
        tail: deque[bytes] = deque()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab", buffering=0) as file:
            while seen <= most_bytes and (piece := stream.read1(_PIECE_BYTES)):
                seen += len(piece)
                file.write(piece[:left])
                self._keep_end(tail, piece[left:])
                left = max(0, left - len(piece))
            end = b"".join(tail)[-self._tail_bytes :]
            left_out = seen - (self._head_bytes - left) - len(end)
            if left_out:
                file.write(f"\n[{left_out} bytes left out]\n".encode())
            file.write(end)
        return seen <= most_bytes

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

"""A child's log: bounded on disk, and without what is nobody's business when it is shown."""

import io
from pathlib import Path

import pytest

from workers.child_log import EXCERPT_BYTES, BoundedLog, log_excerpt, redacted


def copied(folder: Path, content: bytes, *, most_bytes: int = 1 << 30) -> tuple[bytes, bool]:
    path = folder / "child.log"
    whole = BoundedLog(path, head_bytes=10, tail_bytes=6).copy(
        io.BufferedReader(io.BytesIO(content)), most_bytes=most_bytes
    )
    return path.read_bytes(), whole


@pytest.mark.parametrize("count", [0, 1, 10, 11, 16])
def test_what_fits_is_kept_whole(count: int, tmp_path: Path) -> None:
    content = bytes(range(65, 65 + count))
    assert copied(tmp_path, content) == (content, True)


def test_of_what_does_not_fit_beginning_and_end_are_kept(tmp_path: Path) -> None:
    content = b"0123456789" + b"x" * 200_000 + b"finish"
    assert copied(tmp_path, content) == (b"0123456789\n[200000 bytes left out]\nfinish", True)


def test_a_flood_is_given_up(tmp_path: Path) -> None:
    kept, whole = copied(tmp_path, b"x" * 1_000_000, most_bytes=300_000)
    assert not whole
    assert len(kept) < 100


def test_a_log_that_cannot_be_written_is_read_all_the_same(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "file" / "child.log"
    path.parent.write_text("in the way")
    stream = io.BufferedReader(io.BytesIO(b"x" * 1_000_000))
    assert BoundedLog(path).copy(stream, most_bytes=1 << 30)
    assert stream.read() == b""
    assert "child.log is not kept any more" in caplog.text


def test_logs_of_several_children_follow_each_other(tmp_path: Path) -> None:
    copied(tmp_path, b"first ")
    assert copied(tmp_path, b"second")[0] == b"first second"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a model of 3 heads, 1/2 of them idle", "a model of 3 heads, 1/2 of them idle"),
        ('File "/srv/board/evaluation/inputs.py", line 3', 'File "inputs.py", line 3'),
        ("cannot open '/data/models/x/y.bin'", "cannot open 'y.bin'"),
        ("see https://example.org/a/b/c.html", "see https://example.org/a/b/c.html"),
        ("postgres://me:word@host:5432/db", "postgres://[credentials]@host:5432/db"),
        ("token hf_abcdefghijklmnop!", "token [token]!"),
        ("Authorization: Bearer abcdefghij.klm", "Authorization: Bearer [token]"),
        ("SECRET_KEY=abc, next", "SECRET_KEY=[hidden], next"),
        ("db_password: hunter2", "db_password: [hidden]"),
        ("it is called swordfish here", "it is called [hidden] here"),
        ("bell\x07 escape\x1b[31m zero\x00 end\n\tnext", "bell escape[31m zero end\n\tnext"),
        ("Größe 3 µm – 1×1", "Größe 3 µm – 1×1"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert redacted(text, secrets=["swordfish", ""]) == shown


def test_an_excerpt_is_the_end(tmp_path: Path) -> None:
    path = tmp_path / "child.log"
    assert log_excerpt(path) == ""
    path.write_bytes(b"x" * EXCERPT_BYTES + "\n/srv/a/b.py: the µ end\n".encode())
    excerpt = log_excerpt(path)
    assert excerpt.endswith("x\nb.py: the µ end\n")
    assert len(excerpt.encode()) <= EXCERPT_BYTES

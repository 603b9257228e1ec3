"""Each model has a store of its own; the longest unused make room, and none in use is touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluation.errors import StoreUnavailable
from workers.own_stores import hand_over, own_store
from workers.sandbox.users import FIRST_USER, LAST_USER, sealed_user

KIB = 1024


def fill(root: Path, identity: str, count: int, *, at: int) -> Path:
    """A store of so many bytes that was last used at a time."""
    with own_store(root, identity=identity, max_bytes=1 << 40) as store:
        (store.folder / "embeddings-1.sqlite3").write_bytes(os.urandom(count))
    os.utime(root / f"{store.folder.name}.lock", (at, at))
    return store.folder


def test_models_do_not_share_a_store_and_runs_of_one_do(tmp_path: Path) -> None:
    folders = []
    for identity in ("a one", "a two", "a one"):
        with own_store(tmp_path, identity=identity, max_bytes=100) as store:
            folders.append(store.folder)
            assert store.folder.parent == tmp_path
            assert store.folder.stat().st_mode & 0o077 == 0
            assert store.max_bytes == 100
    assert folders[0] == folders[2] != folders[1]


def test_the_longest_unused_make_room(tmp_path: Path) -> None:
    old, newer, newest = (fill(tmp_path, name, 64 * KIB, at=at) for at, name in enumerate(("x", "y", "z"), start=1000))
    with own_store(tmp_path, identity="mine", max_bytes=256 * KIB) as store:
        assert [folder.exists() for folder in (old, newer, newest)] == [False, True, True]
        assert store.max_bytes == 128 * KIB


def test_a_store_in_use_is_kept(tmp_path: Path) -> None:
    old, newer = (fill(tmp_path, name, 64 * KIB, at=at) for at, name in enumerate(("x", "y"), start=1000))
    script = (
        "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_SH); print('held', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / f"{old.name}.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == "held\n"
        with own_store(tmp_path, identity="mine", max_bytes=128 * KIB):
            assert [folder.exists() for folder in (old, newer)] == [True, False]
        user.communicate("\n")
    with own_store(tmp_path, identity="mine", max_bytes=64 * KIB):
        assert not old.exists()


def test_a_folder_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(StoreUnavailable, match="cannot be kept"),
        own_store(tmp_path / "file" / "stores", identity="x", max_bytes=1),
    ):
        pass


def test_links_in_a_store_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    folder = fill(tmp_path / "root", "x", 64 * KIB, at=1000)
    (folder / "link").symlink_to(outside)
    (folder / "file").symlink_to(outside / "kept")
    with own_store(tmp_path / "root", identity="mine", max_bytes=2):
        assert not folder.exists()
    assert (outside / "kept").read_text() == "kept"


def test_the_user_of_a_store_follows_its_name() -> None:
    users = {sealed_user(Path("/anywhere") / f"{number:032x}") for number in range(200)}
    assert len(users) > 180
    assert all(FIRST_USER <= user <= LAST_USER for user in users)
    assert sealed_user(Path("/a/same")) == sealed_user(Path("/b/same"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_what_another_user_left_is_removed(tmp_path: Path) -> None:
    folder, outside = tmp_path / "store", tmp_path / "outside"
    for path in (folder, folder / "inner", outside):
        path.mkdir()
    for path in (folder / "inner" / "file", folder / "file", outside / "kept"):
        path.write_text("x")
    (folder / "link").symlink_to(outside)
    hand_over(folder, FIRST_USER)
    assert list(folder.iterdir()) == []
    assert (folder.stat().st_uid, folder.stat().st_gid) == (FIRST_USER, FIRST_USER)
    assert (outside / "kept").exists()
    (folder / "mine").write_text("x")
    hand_over(folder, FIRST_USER)
    assert (folder / "mine").exists()

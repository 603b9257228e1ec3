"""Vectors on disk: exact, bounded, shared by processes, and never wrong after damage."""

import logging
import multiprocessing
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evaluation.embedding.disk_store import DiskStore
from evaluation.errors import StoreUnavailable
from evaluation.types import FloatMatrix

SPACE, OTHER_SPACE = "ab" * 32, "cd" * 32
DIMENSION = 64
FILE = "embeddings-1.sqlite3"


def key(number: int) -> str:
    return f"{number:064x}"


def keys(numbers: Sequence[int]) -> list[str]:
    return [key(number) for number in numbers]


def matrix(numbers: Sequence[int]) -> FloatMatrix:
    """Row i is drawn from number i alone."""
    return np.stack([np.random.default_rng(number).standard_normal(DIMENSION).astype(np.float32) for number in numbers])


def opened(folder: Path | None, *, space: str = SPACE, max_bytes: int | None = None) -> DiskStore:
    return DiskStore(folder, space=space, dimension=DIMENSION, max_bytes=max_bytes)


def kept(store: DiskStore, numbers: Sequence[int]) -> set[int]:
    """Which numbers the store has; what it has must be right."""
    found = {int(name, 16): row for name, row in store.get(keys(numbers))}
    for number, row in found.items():
        assert np.array_equal(row, matrix([number])[0])
    return set(found)


@settings(max_examples=30)
@given(row=arrays.arrays(np.float32, DIMENSION, elements=st.floats(width=32, allow_nan=False)))
def test_a_vector_comes_back_bit_for_bit(row: FloatMatrix) -> None:
    store = opened(None)
    store.put([key(1)], row[np.newaxis])
    ((name, found),) = store.get([key(1)])
    store.close()
    assert name == key(1)
    assert found.tobytes() == row.tobytes()


def test_another_process_of_another_day_finds_what_was_put(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.put(keys(range(1200)), matrix(range(1200)))
    first.close()
    assert kept(opened(tmp_path), range(1500)) == set(range(1200))


def test_spaces_do_not_see_each_other(tmp_path: Path) -> None:
    opened(tmp_path).put(keys([1]), matrix([1]))
    assert kept(opened(tmp_path, space=OTHER_SPACE), [1]) == set()


def test_a_key_keeps_its_first_vector(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put(keys([1]), matrix([1]))
    store.put(keys([1]), matrix([2]))
    assert kept(store, [1]) == {1}


def test_the_least_recently_used_make_room(tmp_path: Path) -> None:
    limit = 400_000
    early = opened(tmp_path, max_bytes=limit)
    early.put(keys(range(600)), matrix(range(600)))
    early.close()
    later = opened(tmp_path, max_bytes=limit)
    assert kept(later, range(100)) == set(range(100))  # used again
    later.put(keys(range(1000, 1600)), matrix(range(1000, 1600)))
    left = kept(later, range(1600))
    assert set(range(100)) <= left
    assert set(range(1000, 1600)) <= left
    assert not left & set(range(100, 250))
    assert 400 < len(left) < 1200


@pytest.mark.parametrize("limit", [200_000, 50_000, 1])
def test_the_file_stays_within_its_limit(tmp_path: Path, limit: int) -> None:
    unlimited = opened(tmp_path)
    unlimited.put(keys(range(2000)), matrix(range(2000)))
    unlimited.close()
    store = opened(tmp_path, max_bytes=limit)
    for start in range(2000, 3000, 100):
        numbers = range(start, start + 100)
        store.put(keys(numbers), matrix(numbers))
    kept(store, range(3000))
    store.close()
    # the empty tables have pages of their own
    assert (tmp_path / FILE).stat().st_size <= limit + 8 * 4096
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < limit + 2_000_000


def damage(path: Path, column: str, value: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE vectors SET {column} = ? WHERE id = 2", (value,))  # noqa: S608 - a name of this file
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [("vector", b"\0" * 256), ("vector", b"short"), ("vector", "text"), ("checksum", b"\0" * 16), ("checksum", "")],
)
def test_a_damaged_entry_is_absent_counted_and_can_be_put_again(
    tmp_path: Path, column: str, value: object, caplog: pytest.LogCaptureFixture
) -> None:
    store = opened(tmp_path)
    store.put(keys([1, 2, 3]), matrix([1, 2, 3]))
    damage(tmp_path / FILE, column, value)
    assert kept(store, [1, 2, 3]) == {1, 3}
    assert store.damaged == 1
    assert "1 damaged" in caplog.text
    store.put(keys([2]), matrix([2]))
    assert kept(store, [1, 2, 3]) == {1, 2, 3}
    assert store.damaged == 1


def test_a_vector_whose_row_is_gone_is_absent(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.put(keys([1, 2]), matrix([1, 2]))
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("DELETE FROM vectors WHERE id = 2")
    connection.close()
    assert kept(store, [1, 2]) == {1}


def test_a_file_that_is_no_store_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE).write_bytes(b"not a database, but long enough to be read as one " * 100)
    store = opened(tmp_path)
    assert store.damaged == 1
    assert "damaged" in caplog.text
    store.put(keys([1]), matrix([1]))
    assert kept(store, [1]) == {1}
    assert [path.name for path in tmp_path.glob("*.sqlite3")] == ["embeddings-2.sqlite3"]
    assert kept(opened(tmp_path), [1]) == {1}


def test_a_file_that_is_damaged_while_it_is_open_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = opened(tmp_path)
    first.put(keys(range(500)), matrix(range(500)))
    first.close()
    store, other = opened(tmp_path), opened(tmp_path)
    content = bytearray((tmp_path / FILE).read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    (tmp_path / FILE).write_bytes(content)
    assert kept(store, range(500)) == set()
    assert store.damaged == 1
    store.put(keys([1]), matrix([1]))
    assert kept(store, [1]) == {1}
    # the other process sees the damage too and takes the new file, which it does not replace again
    kept(other, range(500))
    assert kept(other, [1]) == {1}
    assert [path.name for path in tmp_path.glob("*.sqlite3")] == ["embeddings-2.sqlite3"]
    assert "computed anew" in caplog.text


def test_a_store_that_cannot_be_written_any_more_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = opened(tmp_path)
    store.put(keys([1]), matrix([1]))
    store._connection.execute("PRAGMA query_only = 1")
    with caplog.at_level(logging.WARNING):
        store.put(keys([2]), matrix([2]))
        store.put(keys([3]), matrix([3]))
    assert caplog.text.count("cannot be used any more") == 1
    assert kept(store, [1, 2, 3]) == set()
    assert kept(opened(tmp_path), [1, 2, 3]) == {1}


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match=r"file/store.*another folder"):
        opened(tmp_path / "file" / "store")


def write_and_read(folder: Path, seed: int) -> int:
    """Put and get overlapping vectors; returns how many came back, and fails if one is wrong."""
    store = opened(folder, max_bytes=600_000)
    generator = np.random.default_rng(seed)
    found = 0
    for _ in range(40):
        numbers = [int(number) for number in generator.choice(2000, 50, replace=False)]
        found += len(kept(store, numbers))
        store.put(keys(numbers), matrix(numbers))
    assert store.damaged == 0
    assert store._working
    store.close()
    return found


def test_processes_may_use_one_store_at_once(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        found = pool.starmap(write_and_read, [(tmp_path, seed) for seed in range(3)])
    assert min(found) > 0


KILLED = """
import os, sys
from pathlib import Path
from tests.evaluation.embedding.test_disk_store import keys, matrix, opened
store = opened(Path(sys.argv[1]))
store.put(keys(range(100)), matrix(range(100)))
with store._writing():
    for number in range(100, 200):
        store._insert(store._name(keys([number])[0]), matrix([number])[0].tobytes())
    os._exit(9)
"""


def test_a_process_that_dies_while_it_writes_leaves_whole_batches(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == 9
    assert kept(opened(tmp_path), range(200)) == set(range(100))

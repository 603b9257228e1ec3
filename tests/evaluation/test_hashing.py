"""The content key covers everything that is embedded, in order, and nothing else."""

import hashlib
import string
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.errors import InputUnreadable
from evaluation.hashing import FileHashes, content_key
from evaluation.inputs import EmbeddingInput

CONTENTS = (b"first", b"second", b"third")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files, and copies of them under other names in another folder, in the same order."""
    paths = []
    for folder_name in ("here", "there"):
        folder = tmp_path_factory.mktemp(folder_name)
        for number, content in enumerate(CONTENTS):
            path = folder / f"{folder_name}{number}.png"
            path.write_bytes(content)
            paths.append(path)
    return paths


def inputs(files: list[Path]) -> st.SearchStrategy[tuple[EmbeddingInput, tuple[object, ...]]]:
    """An input, and the plain facts that make its content."""
    return st.builds(
        lambda text, instruction, chosen, is_volume: (
            EmbeddingInput(
                text=text, instruction=instruction, images=tuple(files[i] for i in chosen), is_volume=is_volume
            ),
            (text, instruction, tuple(CONTENTS[i % len(CONTENTS)] for i in chosen), is_volume),
        ),
        st.text(alphabet=string.ascii_letters + '",[]\\é\ud800', max_size=4),
        st.text(alphabet="ab,", max_size=3),
        st.lists(st.integers(0, 5), max_size=3),
        st.booleans(),
    )


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_keys_are_equal_exactly_when_contents_are(files: list[Path], data: st.DataObject) -> None:
    hashes = FileHashes()
    (one, one_content), (other, other_content) = data.draw(inputs(files)), data.draw(inputs(files))
    assert (content_key(one, hashes) == content_key(other, hashes)) == (one_content == other_content)


def test_order_of_images_matters_and_their_place_does_not(files: list[Path]) -> None:
    hashes = FileHashes()
    forward = EmbeddingInput(images=(files[0], files[1]))
    backward = EmbeddingInput(images=(files[1], files[0]))
    copied = EmbeddingInput(images=(files[3], files[4]))
    assert content_key(forward, hashes) != content_key(backward, hashes)
    assert content_key(forward, hashes) == content_key(copied, hashes)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"before")
    hashes = FileHashes()
    assert hashes.of(path) == hashlib.sha256(b"before").hexdigest()
    path.write_bytes(b"after")
    assert hashes.of(path) == hashlib.sha256(b"before").hexdigest()
    assert FileHashes().of(path) == hashlib.sha256(b"after").hexdigest()


def test_a_series_folder_is_its_files_whatever_their_names(tmp_path: Path) -> None:
    for folder, names in (("one", ("a", "b")), ("other", ("z", "y"))):
        (tmp_path / folder).mkdir()
        for name, content in zip(names, CONTENTS, strict=False):
            (tmp_path / folder / name).write_bytes(content)
    (tmp_path / "other" / ".hidden").write_bytes(b"not counted")
    hashes = FileHashes()
    assert hashes.of(tmp_path / "one") == hashes.of(tmp_path / "other")
    (tmp_path / "one" / "c").write_bytes(b"third")
    assert FileHashes().of(tmp_path / "one") != hashes.of(tmp_path / "other")


@pytest.mark.parametrize("kind", ["missing", "empty folder"])
def test_what_cannot_be_hashed_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "thing"
    if kind == "empty folder":
        path.mkdir()
    with pytest.raises(InputUnreadable, match="thing"):
        FileHashes().of(path)

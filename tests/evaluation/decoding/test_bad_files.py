"""Every kind of bad file is an error that names it, never a picture of something else."""

import gzip
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from evaluation.decoding import decode
from evaluation.decoding.faults import faults_of
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import EmbeddingInput


def gradient() -> Image.Image:
    return Image.fromarray(np.arange(32 * 32 * 3, dtype=np.uint32).astype(np.uint8).reshape(32, 32, 3))


def png_claiming(width: int, height: int) -> bytes:
    """A PNG whose header claims a size that its few bytes do not have."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("is_volume", [False, True])
@pytest.mark.parametrize("name", ["missing.png", "missing.dcm", "missing.nii.gz"])
def test_missing(tmp_path: Path, name: str, *, is_volume: bool) -> None:
    with pytest.raises(InputUnreadable, match=f"{name} does not exist"):
        decode(EmbeddingInput(images=(tmp_path / name,), is_volume=is_volume))


@pytest.mark.parametrize("is_volume", [False, True])
@pytest.mark.parametrize("name", ["empty.png", "empty.dcm", "empty.nii"])
def test_empty(tmp_path: Path, name: str, *, is_volume: bool) -> None:
    (tmp_path / name).touch()
    with pytest.raises(InputUnreadable, match=f"{name} is empty"):
        decode(EmbeddingInput(images=(tmp_path / name,), is_volume=is_volume))


@pytest.mark.parametrize("suffix", ["png", "jpg", "tiff"])
def test_truncated_rasters(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cut.{suffix}"
    gradient().save(path)
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(InputUnreadable, match=f"cut.{suffix}"):
        decode(EmbeddingInput(images=(path,)))


def test_truncated_volumes(tmp_path: Path, write_dicom: Callable[..., Path]) -> None:
    nifti = tmp_path / "cut.nii.gz"
    nibabel.save(nibabel.Nifti1Image(np.arange(4096, dtype=np.int16).reshape(16, 16, 16), np.eye(4)), nifti)
    nifti.write_bytes(nifti.read_bytes()[:-100])
    dicom = write_dicom(tmp_path / "cut.dcm", np.arange(1024, dtype=np.uint16).reshape(32, 32))
    dicom.write_bytes(dicom.read_bytes()[:-100])
    for path in (nifti, dicom):
        with pytest.raises(InputUnreadable, match="cut"):
            decode(EmbeddingInput(images=(path,), is_volume=True))


@pytest.mark.parametrize("content", [b"plain words, no picture", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"\0" * 200])
def test_not_an_image(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.png"
    path.write_bytes(content)
    with pytest.raises(InputUnreadable, match=r"odd\.png"):
        decode(EmbeddingInput(images=(path,)))


def test_other_formats_are_not_read(tmp_path: Path) -> None:
    gradient().save(tmp_path / "moving.gif")
    with pytest.raises(InputUnreadable, match=r"moving\.gif"):
        decode(EmbeddingInput(images=(tmp_path / "moving.gif",)))


@pytest.mark.parametrize(("width", "height"), [(8_001, 8_000), (10_000, 10_000), (50_000, 50_000)])
def test_oversized_images_are_refused_before_decoding(tmp_path: Path, width: int, height: int) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png_claiming(width, height))
    with pytest.raises(InputTooLarge, match=r"bomb\.png"):
        decode(EmbeddingInput(images=(path,)))


def test_a_compressed_volume_that_ends_early_is_an_error(tmp_path: Path) -> None:
    whole = tmp_path / "whole.nii"
    nibabel.save(nibabel.Nifti1Image(np.zeros((64, 64, 64), dtype=np.int16), np.eye(4)), whole)
    short = tmp_path / "short.nii.gz"
    short.write_bytes(gzip.compress(whole.read_bytes()[:1000]))
    with pytest.raises(InputUnreadable, match=r"short\.nii\.gz"):
        decode(EmbeddingInput(images=(short,), is_volume=True))


def test_tiff_of_several_pages_is_an_error(tmp_path: Path) -> None:
    gradient().save(tmp_path / "pages.tiff", save_all=True, append_images=[gradient()])
    with pytest.raises(InputUnreadable, match="2 pages"):
        decode(EmbeddingInput(images=(tmp_path / "pages.tiff",), is_volume=True))


def test_a_folder_is_a_volume_only_and_not_empty(tmp_path: Path) -> None:
    with pytest.raises(InputUnreadable, match="is a folder"):
        decode(EmbeddingInput(images=(tmp_path,)))
    with pytest.raises(InputUnreadable, match="folder without files"):
        decode(EmbeddingInput(images=(tmp_path,), is_volume=True))


@pytest.mark.parametrize(
    "source",
    [
        EmbeddingInput(),
        EmbeddingInput(text=" \n"),
        EmbeddingInput(instruction="Find it"),
        EmbeddingInput(is_volume=True),
        EmbeddingInput(text="half a \ud83d character"),
        EmbeddingInput(text="a", instruction="\udc00"),
    ],
)
def test_inputs_with_nothing_to_embed(source: EmbeddingInput) -> None:
    with pytest.raises(InputUnreadable):
        decode(source)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tiff", "a.dcm", "a.nii", "a.nii.gz"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=8))
def test_damage_gives_a_picture_or_the_typed_error(
    tmp_path: Path, write_dicom: Callable[..., Path], name: str, changes: list[tuple[int, int]]
) -> None:
    path = tmp_path / name
    if name.endswith("dcm"):
        write_dicom(path, np.arange(256, dtype=np.uint16).reshape(16, 16), WindowCenter="8", WindowWidth="16")
    elif "nii" in name:
        nibabel.save(nibabel.Nifti1Image(np.arange(64, dtype=np.int16).reshape(4, 4, 4), np.eye(4)), path)
    else:
        gradient().resize((8, 8)).save(path)
    content = bytearray(path.read_bytes())
    for position, value in changes:
        content[position % len(content)] = value
    path.write_bytes(content)
    images, message = (), ""
    try:
        images = decode(EmbeddingInput(images=(path,), is_volume=True)).images
    except InputUnreadable as error:
        message = error.message
    assert bool(images) != (name in message)
    assert all(image.mode == "RGB" for image in images)


def test_a_lack_of_memory_is_said_in_words() -> None:
    with pytest.raises(InputTooLarge) as caught, faults_of(Path("scan.dcm")):
        raise MemoryError
    assert caught.value.message == "scan.dcm is too large to decode: it needs more memory than may be used"

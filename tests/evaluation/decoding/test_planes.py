"""One slice of a NIfTI volume in a window, against a picture put together by hand."""

import nibabel
import numpy as np
import pytest

from evaluation.decoding import decode
from evaluation.errors import InputUnreadable
from evaluation.hashing import FileHashes, content_key
from evaluation.inputs import EmbeddingInput, Plane
from evaluation.vocabulary import InputKind

SOFT_TISSUE = {"level": 40.0, "width": 400.0}


def write_volume(path, *, flipped=False):
    """Two columns by three rows by four slices in Hounsfield units; each slice holds its number from the feet."""
    values = np.full((2, 3, 4), -1000, dtype=np.int16)
    for number in range(4):
        values[:, :, number] = np.array([[-160, 40, 240], [number, 500, -1000]])
    affine = np.diag([1.0, 1.0, 1.0, 1.0])
    if flipped:
        values, affine[2, 2] = values[:, :, ::-1], -1.0
    nibabel.save(nibabel.Nifti1Image(values, affine), path)
    return path


@pytest.mark.parametrize("flipped", [False, True])
def test_a_slice_in_its_window(tmp_path, flipped):
    path = write_volume(tmp_path / "ct.nii.gz", flipped=flipped)
    (image,) = decode(EmbeddingInput(images=(path,), plane=Plane(3, **SOFT_TISSUE))).images
    # front of the patient up, their right on the left: both axes turn round, and columns become rows
    third = round((3 + 160) / 400 * 255)
    expected = [[0, 255], [255, 128], [third, 0]]
    assert np.asarray(image)[:, :, 0].tolist() == expected
    assert image.mode == "RGB"


def test_slices_and_windows_are_contents_of_their_own(tmp_path):
    path = write_volume(tmp_path / "ct.nii.gz")
    sources = [
        EmbeddingInput(images=(path,), is_volume=True),
        EmbeddingInput(images=(path,), plane=Plane(1, **SOFT_TISSUE)),
        EmbeddingInput(images=(path,), plane=Plane(2, **SOFT_TISSUE)),
        EmbeddingInput(images=(path,), plane=Plane(2, level=40, width=80)),
    ]
    assert len({content_key(source, FileHashes()) for source in sources}) == 4
    assert sources[1].kinds == {InputKind.IMAGE}
    assert sources[1].label == f"slice 1 of {path}"


@pytest.mark.parametrize(
    ("plane", "message"),
    [
        (Plane(4, **SOFT_TISSUE), "4 slices, so there is no slice 4"),
        (Plane(-1, **SOFT_TISSUE), "no slice -1"),
        (Plane(0, level=40, width=0), "width 0 shows nothing"),
    ],
)
def test_planes_that_show_nothing(tmp_path, plane, message):
    path = write_volume(tmp_path / "ct.nii.gz")
    with pytest.raises(InputUnreadable, match=message):
        decode(EmbeddingInput(images=(path,), plane=plane))


def test_a_plane_image_has_no_slices(tmp_path):
    (tmp_path / "image.png").write_bytes(b"x")
    with pytest.raises(InputUnreadable, match=r"one NIfTI file, not of .*image\.png"):
        decode(EmbeddingInput(images=(tmp_path / "image.png",), plane=Plane(0, **SOFT_TISSUE)))

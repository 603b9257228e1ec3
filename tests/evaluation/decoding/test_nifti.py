"""NIfTI volumes: orientation, display and scaling."""

from pathlib import Path

import nibabel
import numpy as np
import pytest

from evaluation.decoding import decode
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import EmbeddingInput


def write(path: Path, values: np.ndarray, affine: np.ndarray | None = None) -> Path:
    nibabel.save(nibabel.Nifti1Image(values, np.eye(4) if affine is None else affine), path)
    return path


def slices(path: Path) -> np.ndarray:
    """Grey levels, (slices, rows, columns)."""
    images = decode(EmbeddingInput(images=(path,), is_volume=True)).images
    return np.stack([np.asarray(image)[:, :, 0] for image in images])


def marked(shape: tuple[int, int, int], place: tuple[int, int, int]) -> np.ndarray:
    values = np.zeros(shape, dtype=np.int16)
    values[place] = 100
    return values


@pytest.mark.parametrize("suffix", ["nii", "nii.gz"])
def test_the_patients_right_is_on_the_left_and_their_front_is_up(tmp_path: Path, suffix: str) -> None:
    # canonical axes: x to the right, y to the front, z to the head
    right_front_head = marked((5, 4, 3), (4, 3, 2))
    levels = slices(write(tmp_path / f"v.{suffix}", right_front_head))
    assert levels.shape == (3, 4, 5)
    assert np.argwhere(levels == 255).tolist() == [[2, 0, 0]]


def test_another_storage_order_shows_the_same_picture(tmp_path: Path) -> None:
    values = np.arange(60, dtype=np.int16).reshape(5, 4, 3)
    plain = slices(write(tmp_path / "a.nii", values))
    # stored as (z, -x, y)
    turned = np.transpose(values, (2, 0, 1))[:, ::-1, :]
    affine = np.array([[0, -1, 0, 4], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=float)
    assert (slices(write(tmp_path / "b.nii", np.ascontiguousarray(turned), affine)) == plain).all()


def test_the_outermost_percent_is_cut_off(tmp_path: Path) -> None:
    values = np.arange(101, dtype=np.float32).reshape(101, 1, 1)
    levels = slices(write(tmp_path / "v.nii", values))[0, 0, ::-1]
    expected = np.rint(np.clip((np.arange(101) - 1) / 98, 0, 1) * 255)
    assert (levels == expected).all()


def test_a_header_scale_does_not_change_the_picture_but_a_negative_one_inverts_it(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    plain = slices(write(tmp_path / "a.nii", values)).astype(int)
    image = nibabel.Nifti1Image(values, np.eye(4))
    image.header.set_slope_inter(-2, 7)
    nibabel.save(image, tmp_path / "b.nii")
    stored = nibabel.load(tmp_path / "b.nii")
    if stored.dataobj.slope != -2:
        pytest.fail("the file was not written with the slope that this test needs")
    assert np.abs(slices(tmp_path / "b.nii").astype(int) - (255 - plain)).max() <= 1


def test_long_volumes_are_sampled_from_end_to_end(tmp_path: Path) -> None:
    values = np.broadcast_to(np.arange(200, dtype=np.int16), (2, 2, 200)).copy()
    levels = slices(write(tmp_path / "v.nii", values))[:, 0, 0]
    assert len(levels) == 64
    assert (levels[0], levels[-1]) == (0, 255)
    assert (np.diff(levels.astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.zeros((2, 2, 2, 3), dtype=np.int16), "shape"),
        (np.zeros((2, 2), dtype=np.int16), "shape"),
        (np.full((2, 2, 2), np.nan, dtype=np.float32), "not finite"),
        (np.zeros((2, 2, 2), dtype=np.complex64), "complex"),
    ],
)
def test_what_is_not_one_volume_of_real_numbers_is_an_error(tmp_path: Path, values: np.ndarray, message: str) -> None:
    with pytest.raises(InputUnreadable, match=message):
        slices(write(tmp_path / "v.nii", values))


def test_a_header_that_claims_too_much_is_refused_before_reading(tmp_path: Path) -> None:
    path = write(tmp_path / "v.nii", np.zeros((2, 2, 2), dtype=np.int16))
    content = bytearray(path.read_bytes())
    content[42:48] = np.array([30_000, 30_000, 30_000], dtype="<i2").tobytes()
    path.write_bytes(content)
    with pytest.raises(InputTooLarge, match="30000"):
        slices(path)


def test_a_volume_needs_to_be_marked_as_one(tmp_path: Path) -> None:
    path = write(tmp_path / "v.nii", np.zeros((2, 2, 2), dtype=np.int16))
    with pytest.raises(InputUnreadable, match="mark the input as a volume"):
        decode(EmbeddingInput(images=(path,)))


@pytest.mark.real_data
def test_a_real_volume_equals_a_reading_by_nibabels_own_tools(real_data: Path) -> None:
    path = min((real_data / "open" / "mri_hippocampus_3d" / "images").glob("*.nii.gz"))
    canonical = nibabel.as_closest_canonical(nibabel.load(path)).get_fdata()
    low, high = np.percentile(canonical, (1, 99))
    expected = np.clip((canonical - low) / (high - low), 0, 1) * 255
    levels = slices(path).astype(float)
    assert levels.shape == (canonical.shape[2], canonical.shape[1], canonical.shape[0])
    for height in range(canonical.shape[2]):
        assert np.abs(levels[height] - np.rot90(expected[:, :, height])[:, ::-1]).max() <= 1

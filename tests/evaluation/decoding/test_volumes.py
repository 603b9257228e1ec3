"""Volumes with their geometry: intensities, voxel sizes and directions survive, and other grids follow MONAI's rules."""

from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import map_coordinates

from evaluation.decoding import DecodedInput, decode
from evaluation.decoding.resampling import centred, resample, windowed
from evaluation.decoding.volumes import Volume
from evaluation.errors import EvaluationError, InputUnreadable, InputUnsupported
from evaluation.inputs import EmbeddingInput

AXIAL = [1, 0, 0, 0, 1, 0]


def read(*paths: Path) -> Volume:
    return decode(EmbeddingInput(images=paths, is_volume=True)).volume()


def write(path: Path, values: np.ndarray, affine: np.ndarray) -> Path:
    nibabel.save(nibabel.Nifti1Image(values, affine), path)
    return path


def test_nifti_intensities_are_scaled_and_axes_run_right_front_head(tmp_path: Path) -> None:
    values = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    # stored as (head, left, back) with 5, 0.7 and 0.8 mm
    affine = np.array([[0, -0.7, 0, 9], [0, 0, -0.8, 8], [5, 0, 0, 7], [0, 0, 0, 1]])
    image = nibabel.Nifti1Image(values, affine)
    image.header.set_slope_inter(2, -1000)
    nibabel.save(image, tmp_path / "v.nii.gz")
    volume = read(tmp_path / "v.nii.gz")
    assert volume.spacing == pytest.approx((0.7, 0.8, 5))
    assert volume.values.dtype == np.float32
    assert volume.values.shape == (3, 4, 2)
    assert volume.values[0, 0, 1] == 2 * values[1, 2, 3] - 1000
    assert (volume.values == 2.0 * np.transpose(values[:, ::-1, ::-1], (1, 2, 0)) - 1000).all()


def test_all_slices_are_read_where_pictures_are_sampled(tmp_path: Path) -> None:
    path = write(tmp_path / "v.nii", np.zeros((2, 2, 200), dtype=np.int16), np.eye(4))
    assert len(decode(EmbeddingInput(images=(path,), is_volume=True)).images) == 64
    assert read(path).values.shape == (2, 2, 200)


@pytest.fixture
def series(tmp_path: Path, write_dicom: Callable[..., Path]) -> Callable[..., list[Path]]:
    """Slices of 2 rows and 3 columns, 0.5 mm between rows and 0.25 mm between columns, stored from the head down."""

    def build(depths: list[float], **tags: object) -> list[Path]:
        geometry = {"ImageOrientationPatient": AXIAL, "PixelSpacing": [0.5, 0.25], "RescaleSlope": 2}
        paths = []
        for number, depth in enumerate(sorted(depths, reverse=True)):
            pixels = np.arange(6, dtype=np.uint16).reshape(2, 3) + 10 * round(depth)
            path = tmp_path / f"{number}.dcm"
            place = {"ImagePositionPatient": [0, 0, depth], "RescaleIntercept": -1024}
            paths.append(write_dicom(path, pixels, **(geometry | place | tags)))
        return paths

    return build


def test_a_dicom_series_gives_hounsfield_units_in_the_same_directions(series: Callable[..., list[Path]]) -> None:
    paths = series([0, 4, 8])
    volume = read(*paths)
    assert volume.spacing == (0.25, 0.5, 4)
    assert volume.values.shape == (3, 2, 3)
    # the first row of an axial slice is the patient's front, its first column their right
    assert volume.values[:, :, 0].tolist() == [[2 * v - 1024 for v in pair] for pair in ((5, 2), (4, 1), (3, 0))]
    assert volume.values[2, 1, 2] == 2 * 80 - 1024
    folder = read(paths[0].parent)
    assert (folder.values == volume.values).all()
    assert folder.spacing == volume.spacing


def test_sagittal_slices_are_turned(write_dicom: Callable[..., Path], tmp_path: Path) -> None:
    # rows run from front to back, columns from head to feet; slices lie 3 mm apart towards the patient's left
    paths = []
    for number in range(2):
        pixels = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.uint16) + 10 * number
        place = {"ImagePositionPatient": [3.0 * number, 0, 0], "ImageOrientationPatient": [0, 1, 0, 0, 0, -1]}
        paths.append(write_dicom(tmp_path / f"{number}.dcm", pixels, PixelSpacing=[0.5, 0.25], **place))
    volume = read(*paths)
    assert volume.spacing == (3, 0.25, 0.5)
    assert volume.values.shape == (2, 3, 2)
    assert volume.values[1, 2, 1] == 1  # the rightmost, frontmost, uppermost: first pixel of the first slice
    assert volume.values[0, 0, 0] == 16  # the leftmost, backmost, lowest: last pixel of the second


@pytest.mark.parametrize(
    ("depths", "tags", "message"),
    [
        ([0, 4, 12], {}, "fetch what is missing"),
        ([0, 4, 4], {}, "remove copies"),
        ([0], {}, "at least two"),
        ([0, 4], {"PixelSpacing": None}, "has no PixelSpacing"),
        ([0, 4], {"ImagePositionPatient": None}, "has no ImagePositionPatient"),
    ],
)
def test_a_series_that_does_not_say_where_it_lies_is_refused(
    series: Callable[..., list[Path]], depths: list[float], tags: dict[str, object], message: str
) -> None:
    paths = series(depths, **tags)
    source = EmbeddingInput(images=(paths[0].parent,), is_volume=True)
    with pytest.raises(InputUnreadable, match=message):
        DecodedInput(source).volume()


def test_slices_of_two_sizes_are_refused(series: Callable[..., list[Path]], write_dicom: Callable[..., Path]) -> None:
    paths = series([0, 4])
    tags = {"ImageOrientationPatient": AXIAL, "PixelSpacing": [0.5, 0.5], "ImagePositionPatient": [0, 0, 8]}
    other = write_dicom(paths[0].parent / "other.dcm", np.zeros((2, 3), dtype=np.uint16), **tags)
    with pytest.raises(InputUnreadable, match="several sizes"):
        read(*paths, other)


def test_pictures_of_slices_are_no_volume_with_geometry(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.png" for number in range(3)]
    for path in paths:
        Image.new("L", (4, 4)).save(path)
    with pytest.raises(InputUnsupported, match="no measured intensities"):
        read(*paths)
    with pytest.raises(InputUnsupported, match="NIfTI"):
        read(paths[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_intensities_that_are_no_numbers_are_refused(tmp_path: Path, bad: float) -> None:
    values = np.zeros((2, 2, 2), dtype=np.float32)
    path = write(tmp_path / "v.nii", values, np.eye(4))
    source = decode(EmbeddingInput(images=(path,), is_volume=True))
    values[1, 1, 1] = bad
    write(path, values, np.eye(4))
    with pytest.raises(EvaluationError, match="not finite"):
        source.volume()


def test_resampling_is_linear_interpolation_between_voxel_centres() -> None:
    generator = np.random.default_rng(5)
    values = generator.normal(size=(7, 5, 9)).astype(np.float32)
    old, new = (0.8, 3.1, 1.0), (1.5, 1.5, 3.0)
    result = resample(Volume(values, old), new)
    shape = tuple(round((n - 1) * a / b + 1) for n, a, b in zip(values.shape, old, new, strict=True))
    assert shape == (4, 9, 4)  # 6 * 0.8 / 1.5 + 1 = 4.2, 4 * 3.1 / 1.5 + 1 = 9.27, 8 / 3 + 1 = 3.67
    grid = np.meshgrid(*(np.arange(n) * b / a for n, a, b in zip(shape, old, new, strict=True)), indexing="ij")
    expected = map_coordinates(values.astype(np.float64), grid, order=1, mode="nearest")
    assert result.values.shape == shape
    assert np.abs(result.values - expected).max() < 1e-5
    assert result.spacing == new


def test_the_last_voxel_is_repeated_past_its_centre() -> None:
    values = np.array([[[0.0, 10.0]]], dtype=np.float32)
    # (2 - 1) * 1 / 0.65 + 1 = 2.54 voxels, rounded to three at 0, 0.65 and 1.3 mm; the last centre is at 1
    assert resample(Volume(values, (1, 1, 1)), (1, 1, 0.65)).values[0, 0] == pytest.approx([0, 6.5, 10])


@given(st.integers(1, 12), st.floats(0.3, 6), st.floats(0.3, 6))
def test_a_constant_volume_stays_constant(count: int, old: float, new: float) -> None:
    volume = resample(Volume(np.full((count, 2, 1), 3, dtype=np.float32), (old, old, old)), (new, new, new))
    assert np.abs(volume.values - 3).max() < 1e-6
    assert len(volume.values) == max(1, round((count - 1) * old / new + 1))


def test_window_maps_to_zero_and_one_and_cuts_off() -> None:
    values = np.array([-3000, -1000, 0, 500, 1000, 1024], dtype=np.float32)
    assert windowed(values, -1000, 1000).tolist() == [0, 0, 0.5, 0.75, 1, 1]


@pytest.mark.parametrize(
    ("length", "wanted", "expected"),
    [
        (3, 6, [0, 1, 2, 3, 0, 0]),  # three missing: one before, two after
        (2, 6, [0, 0, 1, 2, 0, 0]),
        (6, 3, [3, 4, 5]),  # starts at 6 // 2 - 3 // 2 = 2
        (5, 2, [2, 3]),  # starts at 5 // 2 - 1 = 1
    ],
)
def test_the_middle_of_a_grid(length: int, wanted: int, expected: list[int]) -> None:
    values = np.arange(1, length + 1, dtype=np.float32).reshape(1, 1, -1)
    assert centred(values, (1, 1, wanted)).ravel().tolist() == expected


@pytest.mark.real_data
def test_real_volumes_keep_their_geometry(real_data: Path) -> None:
    path = min((real_data / "open" / "mri_hippocampus_3d" / "images").glob("*.nii.gz"))
    canonical = nibabel.as_closest_canonical(nibabel.load(path))
    volume = read(path)
    assert np.abs(volume.values - canonical.get_fdata()).max() < 1e-3
    assert volume.spacing == pytest.approx(tuple(canonical.header.get_zooms()[:3]))
    head = read(real_data / "open" / "volumes_misc" / "dicom_vs_seg_001_t1")
    assert 32 in head.values.shape
    assert min(head.spacing) > 0.2

"""DICOM files and series: the display rules of the standard, on values worked out on paper."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pydicom
import pytest
from pydicom.uid import generate_uid

from evaluation.decoding import decode
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import EmbeddingInput

Write = Callable[..., Path]


def grey(path: Path) -> list[list[int]]:
    (image,) = decode(EmbeddingInput(images=(path,))).images
    return np.asarray(image)[:, :, 0].tolist()


def levels(path: Path) -> list[int]:
    return [image.getpixel((0, 0))[0] for image in decode(EmbeddingInput(images=(path,), is_volume=True)).images]


def test_without_a_window_minimum_to_maximum_is_shown(tmp_path: Path, write_dicom: Write) -> None:
    path = write_dicom(tmp_path / "a.dcm", np.array([[100, 151], [202, 355]], dtype=np.uint16))
    assert grey(path) == [[0, 51], [102, 255]]


def test_monochrome1_is_inverted(tmp_path: Path, write_dicom: Write) -> None:
    pixels = np.array([[100, 151], [202, 355]], dtype=np.uint16)
    path = write_dicom(tmp_path / "a.dcm", pixels, PhotometricInterpretation="MONOCHROME1")
    assert grey(path) == [[255, 204], [153, 0]]


def test_linear_window_after_rescale(tmp_path: Path, write_dicom: Write) -> None:
    # 2 v - 1000 = -101, -1, 50, 100, 499; centre 0.5 and width 256 show -127.5 .. 127.5, one unit a level
    stored = np.array([[4495, 5000, 5255, 5505, 7495]], dtype=np.uint16)
    path = write_dicom(
        tmp_path / "a.dcm", stored, RescaleSlope="0.2", RescaleIntercept="-1000", WindowCenter="0.5", WindowWidth="256"
    )
    assert grey(path) == [[26, 128, 178, 228, 255]]


def test_the_first_of_several_windows_is_used(tmp_path: Path, write_dicom: Write) -> None:
    stored = np.array([[0, 64, 128, 255, 1000]], dtype=np.uint16)
    path = write_dicom(tmp_path / "a.dcm", stored, WindowCenter=["128", "500"], WindowWidth=["256", "1000"])
    assert grey(path) == [[0, 64, 128, 255, 255]]


def test_exact_linear_and_sigmoid_functions(tmp_path: Path, write_dicom: Write) -> None:
    stored = np.array([[0, 50, 100]], dtype=np.uint8)
    tags = {"WindowCenter": "50", "WindowWidth": "100"}
    exact = write_dicom(tmp_path / "e.dcm", stored, **tags, VOILUTFunction="LINEAR_EXACT")
    assert grey(exact) == [[0, 128, 255]]
    sigmoid = write_dicom(tmp_path / "s.dcm", stored, **tags, VOILUTFunction="SIGMOID")
    # 255 / (1 + e^2) = 30.4 and 255 / (1 + e^-2) = 224.6
    assert grey(sigmoid) == [[30, 128, 225]]


@pytest.mark.parametrize(
    "tags",
    [{"WindowWidth": "0"}, {"WindowWidth": "-5"}, {"WindowWidth": "9", "VOILUTFunction": "CUBIC"}],
)
def test_impossible_windows_are_errors(tmp_path: Path, write_dicom: Write, tags: dict[str, str]) -> None:
    path = write_dicom(tmp_path / "a.dcm", np.array([[1, 2]], dtype=np.uint8), WindowCenter="5", **tags)
    with pytest.raises(InputUnreadable, match=r"a\.dcm"):
        grey(path)


def test_a_voi_table_is_applied_where_there_is_no_window(tmp_path: Path, write_dicom: Write) -> None:
    table = pydicom.Dataset()
    table.LUTDescriptor = [4, 10, 16]
    table["LUTDescriptor"].VR = "US"
    table.LUTData = np.array([0, 200, 100, 255], dtype="<u2").tobytes()
    table["LUTData"].VR = "OW"
    stored = np.array([[0, 1, 2, 3, 9]], dtype=np.uint8)
    tags = {"RescaleSlope": "1", "RescaleIntercept": "10"}
    path = write_dicom(tmp_path / "a.dcm", stored, VOILUTSequence=[table], **tags)
    assert grey(path) == [[0, 200, 100, 255, 255]]


def test_colour_is_kept(tmp_path: Path, write_dicom: Write) -> None:
    pixels = np.array([[[200, 100, 50], [1, 2, 3]]], dtype=np.uint8)
    path = write_dicom(tmp_path / "a.dcm", pixels, PhotometricInterpretation="RGB")
    (image,) = decode(EmbeddingInput(images=(path,))).images
    assert np.asarray(image).tolist() == pixels.tolist()


def test_frames_are_slices_on_one_scale_and_need_a_volume(tmp_path: Path, write_dicom: Write) -> None:
    frames = np.arange(0, 1530, 15, dtype=np.uint16).reshape(102, 1, 1)
    path = write_dicom(tmp_path / "a.dcm", frames, frames=True)
    shown = levels(path)
    assert len(shown) == 64
    assert (shown[0], shown[-1]) == (0, 255)
    assert shown == sorted(shown)
    with pytest.raises(InputUnreadable, match="several frames"):
        grey(path)


def write_series(folder: Path, write_dicom: Write, tags_of: Callable[[int], dict[str, object]]) -> Path:
    """Five slices of level 0, 51 ... 204 and 255 in the last, under names in the opposite order."""
    folder.mkdir()
    for number in range(6):
        pixels = np.full((1, 1), 51 * number, dtype=np.uint16)
        write_dicom(folder / f"{9 - number}.dcm", pixels, **tags_of(number))
    return folder


def test_a_series_is_ordered_along_its_normal(tmp_path: Path, write_dicom: Write) -> None:
    # coronal: rows run along +x, columns along -z, so the normal is (1,0,0) x (0,0,-1) = (0,1,0)
    folder = write_series(
        tmp_path / "s",
        write_dicom,
        lambda number: {
            "ImageOrientationPatient": [1, 0, 0, 0, 0, -1],
            "ImagePositionPatient": [5, -20 + 3 * number, 7],
            "InstanceNumber": 50 - number,
        },
    )
    assert levels(folder) == [0, 51, 102, 153, 204, 255]


def test_a_series_without_positions_is_ordered_by_instance_number(tmp_path: Path, write_dicom: Write) -> None:
    folder = write_series(tmp_path / "s", write_dicom, lambda number: {"InstanceNumber": 50 - number})
    assert levels(folder) == [255, 204, 153, 102, 51, 0]


def test_a_series_that_cannot_be_ordered_is_an_error(tmp_path: Path, write_dicom: Write) -> None:
    folder = write_series(tmp_path / "s", write_dicom, lambda _: {"InstanceNumber": 1})
    with pytest.raises(InputUnreadable, match="cannot be ordered"):
        levels(folder)


def test_listed_slices_keep_their_order_and_share_one_scale(tmp_path: Path, write_dicom: Write) -> None:
    folder = write_series(tmp_path / "s", write_dicom, lambda number: {"InstanceNumber": number})
    files = tuple(folder / f"{9 - number}.dcm" for number in (0, 5, 3))
    images = decode(EmbeddingInput(images=files, is_volume=True)).images
    assert [image.getpixel((0, 0))[0] for image in images] == [0, 255, 153]


def test_two_series_in_a_folder_are_an_error(tmp_path: Path, write_dicom: Write) -> None:
    folder = write_series(
        tmp_path / "s",
        write_dicom,
        lambda number: {"InstanceNumber": number, "SeriesInstanceUID": generate_uid(entropy_srcs=[str(number % 2)])},
    )
    with pytest.raises(InputUnreadable, match="several DICOM series"):
        levels(folder)


def test_a_stray_file_in_a_series_is_named(tmp_path: Path, write_dicom: Write) -> None:
    folder = write_series(tmp_path / "s", write_dicom, lambda number: {"InstanceNumber": number})
    (folder / "notes.txt").write_text("not a slice")
    with pytest.raises(InputUnreadable, match=r"notes\.txt"):
        levels(folder)


def test_a_file_without_pixels_is_an_error(tmp_path: Path, write_dicom: Write) -> None:
    path = write_dicom(tmp_path / "a.dcm", np.array([[1]], dtype=np.uint8))
    dataset = pydicom.dcmread(path)
    del dataset.PixelData
    dataset.save_as(path)
    with pytest.raises(InputUnreadable, match="no pixels"):
        grey(path)


def test_claimed_sizes_beyond_the_limit_are_refused_before_decoding(tmp_path: Path, write_dicom: Write) -> None:
    path = write_dicom(tmp_path / "a.dcm", np.array([[1]], dtype=np.uint8), Rows=65_000, Columns=65_000)
    with pytest.raises(InputTooLarge, match="65000 x 65000"):
        grey(path)
    path = write_dicom(tmp_path / "b.dcm", np.array([[[1]]], dtype=np.uint8), frames=True, NumberOfFrames=600_000_000)
    with pytest.raises(InputTooLarge, match="600000000 frames"):
        levels(path)


@pytest.mark.real_data
def test_real_chest_x_rays_match_pydicoms_own_windowing(real_data: Path) -> None:
    for name in ("test1.dcm", "test5.dcm"):
        path = real_data / "open" / "dicom_nih_cxr" / name
        dataset = pydicom.dcmread(path)
        shown = np.array(grey(path))
        assert shown.shape == (dataset.Rows, dataset.Columns)
        reference = pydicom.pixels.apply_voi_lut(
            pydicom.pixels.apply_modality_lut(dataset.pixel_array, dataset), dataset
        ).astype(np.float64)
        top = 2**dataset.BitsStored - 1 if "WindowCenter" in dataset else reference.max() - reference.min()
        low = 0 if "WindowCenter" in dataset else reference.min()
        expected = (reference - low) / top * 255
        if dataset.PhotometricInterpretation == "MONOCHROME1":
            expected = 255 - expected
        assert np.abs(shown - expected).max() <= 1


@pytest.mark.real_data
def test_a_real_series_is_read_whole_and_in_order(real_data: Path) -> None:
    files = sorted((real_data / "open" / "volumes_misc").rglob("*.dcm"))
    images = decode(EmbeddingInput(images=(files[0].parent,), is_volume=True)).images
    headers = sorted(
        (pydicom.dcmread(path) for path in files), key=lambda header: float(header.ImagePositionPatient[2])
    )
    assert len(images) == len(files) == 32
    for image, header in zip(images, headers, strict=True):
        shown, stored = np.asarray(image)[:, :, 0].astype(float).ravel(), header.pixel_array.astype(float).ravel()
        assert np.corrcoef(shown, stored)[0, 1] > 0.95
    neighbours = [np.abs(np.asarray(one, float) - np.asarray(other, float)).mean() for one, other in pairwise(images)]
    ends = np.abs(np.asarray(images[0], float) - np.asarray(images[-1], float)).mean()
    assert max(neighbours) < ends

"""PNG, JPEG and TIFF files, with pixels that were worked out on paper."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.decoding import decode
from evaluation.inputs import EmbeddingInput


def read(path: Path) -> np.ndarray:
    (image,) = decode(EmbeddingInput(images=(path,))).images
    assert image.mode == "RGB"
    return np.asarray(image)


@pytest.mark.parametrize("suffix", ["png", "tiff"])
def test_sixteen_bit_grey_is_stretched_from_its_own_minimum_to_maximum(tmp_path: Path, suffix: str) -> None:
    values = np.array([[1000, 2000], [3000, 6100]], dtype=np.uint16)
    Image.fromarray(values).save(tmp_path / f"deep.{suffix}")
    # (v - 1000) / 5100 * 255 = (v - 1000) / 20
    expected = np.array([[0, 50], [100, 255]])
    assert (read(tmp_path / f"deep.{suffix}") == expected[:, :, np.newaxis]).all()


def test_float_tiff_is_stretched(tmp_path: Path) -> None:
    Image.fromarray(np.array([[-1.0, 0.0], [0.5, 1.0]], dtype=np.float32)).save(tmp_path / "f.tiff")
    assert read(tmp_path / "f.tiff")[:, :, 0].tolist() == [[0, 128], [191, 255]]


def test_constant_deep_grey_is_black(tmp_path: Path) -> None:
    Image.fromarray(np.full((2, 3), 700, dtype=np.uint16)).save(tmp_path / "flat.png")
    assert not read(tmp_path / "flat.png").any()


def test_eight_bit_grey_is_left_as_it_is(tmp_path: Path) -> None:
    values = np.array([[10, 20], [30, 40]], dtype=np.uint8)
    Image.fromarray(values).save(tmp_path / "grey.png")
    assert (read(tmp_path / "grey.png") == values[:, :, np.newaxis]).all()


def test_one_bit_masks_become_black_and_white(tmp_path: Path) -> None:
    Image.fromarray(np.array([[True, False]])).save(tmp_path / "mask.png")
    assert read(tmp_path / "mask.png").tolist() == [[[255, 255, 255], [0, 0, 0]]]


def test_palette_colours_are_looked_up(tmp_path: Path) -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([0, 0, 0, 200, 100, 50])
    image.putdata([1, 0])
    image.save(tmp_path / "palette.png")
    assert read(tmp_path / "palette.png").tolist() == [[[200, 100, 50], [0, 0, 0]]]


def test_transparency_is_laid_over_black(tmp_path: Path) -> None:
    image = Image.new("RGBA", (3, 1))
    image.putdata([(200, 100, 50, 255), (200, 100, 50, 0), (200, 100, 50, 51)])
    image.save(tmp_path / "alpha.png")
    assert read(tmp_path / "alpha.png").tolist() == [[[200, 100, 50], [0, 0, 0], [40, 20, 10]]]


def test_a_transparent_colour_of_a_palette_is_laid_over_black(tmp_path: Path) -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([9, 9, 9, 200, 100, 50])
    image.putdata([1, 0])
    image.save(tmp_path / "keyed.png", transparency=1)
    assert read(tmp_path / "keyed.png").tolist() == [[[0, 0, 0], [9, 9, 9]]]


def test_exif_orientation_turns_the_image_upright(tmp_path: Path) -> None:
    lying = Image.new("L", (32, 16))
    lying.paste(255, (0, 0, 16, 16))
    exif = Image.Exif()
    exif[0x0112] = 6  # the first row of the file is the right edge
    lying.save(tmp_path / "lying.jpg", exif=exif, quality=100)
    upright = read(tmp_path / "lying.jpg")
    assert upright.shape == (32, 16, 3)
    assert upright[:12].min() > 200
    assert upright[20:].max() < 50


def test_slices_of_a_volume_are_sampled_evenly_with_both_ends(tmp_path: Path) -> None:
    paths = []
    for number in range(130):
        path = tmp_path / f"{number:03}.png"
        Image.fromarray(np.full((2, 2), number, dtype=np.uint8)).save(path)
        paths.append(path)
    images = decode(EmbeddingInput(images=tuple(paths), is_volume=True)).images
    levels = [image.getpixel((0, 0))[0] for image in images]
    assert len(levels) == 64
    assert (levels[0], levels[-1]) == (0, 129)
    assert set(np.diff(levels)) == {2, 3}
    assert len(decode(EmbeddingInput(images=tuple(paths[:64]), is_volume=True)).images) == 64


def test_several_images_stay_in_reading_order_and_are_not_sampled(tmp_path: Path) -> None:
    paths = []
    for number in (5, 3, 4):
        path = tmp_path / f"{number}.png"
        Image.fromarray(np.full((1, 1), number, dtype=np.uint8)).save(path)
        paths.append(path)
    images = decode(EmbeddingInput(images=tuple(paths))).images
    assert [image.getpixel((0, 0))[0] for image in images] == [5, 3, 4]

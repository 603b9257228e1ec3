"""PNG, JPEG and TIFF files."""

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from evaluation.decoding.intensities import grey_image, stretch
from evaluation.errors import InputTooLarge, InputUnreadable
from evaluation.inputs import MAX_IMAGE_PIXELS

FORMATS = ("PNG", "JPEG", "TIFF")
_DEEP_GREY_MODES = frozenset({"I;16", "I;16B", "I;16L", "I;16N", "I", "F"})


def read_raster(path: Path) -> Image.Image:
    """The RGB image in a PNG, JPEG or TIFF file, upright by its EXIF orientation.

    Grey of more than 8 bits is mapped linearly from its own minimum..maximum to 0..255. Transparent pixels are laid
    over black, the background of medical images. Colour of 16 bits keeps its upper 8.

    Raises:
        InputTooLarge: more than `MAX_IMAGE_PIXELS` pixels.
        InputUnreadable: another format, or several pages.
        Exception: whatever the decoder raises on a damaged file; the caller translates it.
    """
    with Image.open(path, formats=FORMATS) as image:
        require_pixels(path, image.width, image.height)
        pages = getattr(image, "n_frames", 1)
        if image.format == "TIFF" and pages > 1:
            raise InputUnreadable(f"{path} holds {pages} pages; store each slice as a file of its own.")
        image.load()
        return _to_rgb(ImageOps.exif_transpose(image))


def require_pixels(path: Path, width: int, height: int) -> None:
    """Refuse an image beyond the pixel limit before it is decoded.

    Raises:
        InputTooLarge: `width * height` exceeds `MAX_IMAGE_PIXELS`.
    """
    if width * height > MAX_IMAGE_PIXELS:
        raise InputTooLarge(f"{path} has {width} x {height} pixels; at most {MAX_IMAGE_PIXELS:,} are read. Reduce it.")


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode in _DEEP_GREY_MODES:
        values = np.asarray(image)
        return grey_image(stretch(values, float(values.min()), float(values.max())))
    if image.has_transparency_data:
        opaque = image.convert("RGBA")
        ground = Image.new("RGBA", opaque.size, (0, 0, 0, 255))
        return Image.alpha_composite(ground, opaque).convert("RGB")
    return image.convert("RGB")

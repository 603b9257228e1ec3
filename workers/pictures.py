"""Small JPEGs of what a suite holds, for pages."""

import io
import logging

from PIL import Image

from evaluation.decoding.inputs import decode
from evaluation.decoding.sampling import sample_evenly
from evaluation.errors import EvaluationError
from evaluation.inputs import EmbeddingInput
from leaderboard.services.examples import Picture

PICTURE_PIXELS = 192
SMALL_PICTURE_PIXELS = 128
"""The longer side of a picture that is alone, and of one among several."""
MOST_PICTURES = 4
JPEG_QUALITY = 82

logger = logging.getLogger(__name__)


def small_picture(source: EmbeddingInput) -> Picture | None:
    """A JPEG of up to four of an input's pictures side by side; None where they cannot be read."""
    try:
        images = decode(source).images
    except EvaluationError as error:
        logger.warning("no picture of %s: %s", source.label, error.message)
        return None
    side = PICTURE_PIXELS if len(images) == 1 else SMALL_PICTURE_PIXELS
    small = [_reduced(image, side) for image in sample_evenly(images, MOST_PICTURES)]
    strip = Image.new("RGB", (sum(image.width for image in small), max(image.height for image in small)))
    left = 0
    for image in small:
        strip.paste(image, (left, (strip.height - image.height) // 2))
        left += image.width
    return Picture(jpeg(strip), width=strip.width, height=strip.height)


def _reduced(image: Image.Image, side: int) -> Image.Image:
    reduced = image.convert("RGB")
    reduced.thumbnail((side, side), Image.Resampling.LANCZOS)
    return reduced


def jpeg(image: Image.Image) -> bytes:
    """An RGB image as JPEG."""
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return stream.getvalue()

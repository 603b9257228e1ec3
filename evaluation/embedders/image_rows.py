"""What the image towers of transformers' dual encoders share."""

from collections.abc import Sequence
from typing import Any

from PIL import Image

from evaluation.types import FloatMatrix


def pooled_image_rows(model: Any, processor: Any, images: Sequence[Image.Image], *, device: str) -> FloatMatrix:
    """Image vectors in the space of the texts, shape (len(images), dimension); `get_image_features` gives an object."""
    inputs = processor(images=list(images), return_tensors="pt").to(device, model.dtype)
    rows: FloatMatrix = model.get_image_features(**inputs).pooler_output.float().cpu().numpy()
    return rows

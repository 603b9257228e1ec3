"""Square pixel arrays of pictures, resized with Pillow, as torchvision's transforms cut them out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image

Channels = tuple[float, float, float]

CLIP_MEAN: Channels = (0.48145466, 0.4578275, 0.40821073)
CLIP_DEVIATION: Channels = (0.26862954, 0.26130258, 0.27577711)


@dataclass(frozen=True, slots=True)
class Squares:
    """How pictures become arrays.

    Attributes:
        pixels: the side.
        mean, deviation: of each channel in 0..1, taken off and divided by.
        resampling: Pillow's.
        crops: the shorter side becomes `pixels` and the middle is cut out; otherwise the picture is squeezed.
    """

    pixels: int
    mean: Channels = CLIP_MEAN
    deviation: Channels = CLIP_DEVIATION
    resampling: Image.Resampling = Image.Resampling.BICUBIC
    crops: bool = True

    def tensors(self, images: Sequence[Image.Image]) -> torch.Tensor:
        """Shape (len(images), 3, pixels, pixels), float32."""
        values = np.stack([np.asarray(self._square(image), dtype=np.float32) for image in images])
        mean, deviation = (np.array(channels, dtype=np.float32) for channels in (self.mean, self.deviation))
        scaled = (values / np.float32(255) - mean) / deviation
        return torch.from_numpy(scaled.transpose(0, 3, 1, 2).copy())

    def _square(self, image: Image.Image) -> Image.Image:
        if not self.crops:
            return image.resize((self.pixels, self.pixels), self.resampling)
        shorter = min(image.size)
        width, height = (int(self.pixels * side / shorter) for side in image.size)
        resized = image.resize((width, height), self.resampling)
        left, top = round((width - self.pixels) / 2), round((height - self.pixels) / 2)
        return resized.crop((left, top, left + self.pixels, top + self.pixels))

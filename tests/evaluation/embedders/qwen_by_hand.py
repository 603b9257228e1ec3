"""What Qwen's vision-language models are given, worked out from their description: no code of the library is used."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from PIL import Image

IMAGE_MARK, VIDEO_MARK = "<|image_pad|>", "<|video_pad|>"


@dataclass(frozen=True)
class Cutter:
    """How a model's images are cut: patches of `patch` pixels in blocks of 2 x 2, colours as (value - mean) / spread."""

    patch: int
    mean: tuple[float, float, float]
    spread: tuple[float, float, float]

    def fitted(self, height: int, width: int, fewest: int, most: int) -> tuple[int, int]:
        """Sides that are multiples of two patches, of nearly the same proportions, within the limits of pixels."""
        side = 2 * self.patch
        rows, columns = (round(length / side) * side for length in (height, width))
        if rows * columns > most:
            shrink = math.sqrt(height * width / most)
            rows, columns = (max(side, math.floor(length / shrink / side) * side) for length in (height, width))
        elif rows * columns < fewest:
            grow = math.sqrt(fewest / (height * width))
            rows, columns = (math.ceil(length * grow / side) * side for length in (height, width))
        return rows, columns

    def cut(self, frames: Sequence[Image.Image], *, fewest: int, most: int) -> tuple[torch.Tensor, list[int]]:
        """Rows of 3 x 2 x patch x patch numbers of two frames, or of one shown twice, and (1, rows, columns)."""
        height, width = self.fitted(frames[0].height, frames[0].width, fewest, most)
        shown = [self._colours(frame.resize((width, height), Image.Resampling.BICUBIC)) for frame in frames]
        pair = shown if len(shown) == 2 else shown * 2
        patch, rows = self.patch, []
        for top in range(0, height, 2 * patch):
            for left in range(0, width, 2 * patch):
                for down, right in ((0, 0), (0, patch), (patch, 0), (patch, patch)):
                    y, x = top + down, left + right
                    rows.append(np.stack([one[:, y : y + patch, x : x + patch] for one in pair], axis=1).ravel())
        return torch.tensor(np.array(rows), dtype=torch.float32), [1, height // patch, width // patch]

    def _colours(self, image: Image.Image) -> np.ndarray:
        values = (np.asarray(image, dtype=np.float64) / 255 - np.array(self.mean)) / np.array(self.spread)
        return values.transpose(2, 0, 1)


def opened(paths: Sequence[Path]) -> list[Image.Image]:
    return [Image.open(path).convert("RGB") for path in paths]


def frame_pairs(paths: Sequence[Path]) -> list[list[Image.Image]]:
    """Frames two by two, all of the first one's size, the last shown twice where their number is odd."""
    frames = opened(paths)
    frames = [frame if frame.size == frames[0].size else frame.resize(frames[0].size, 2) for frame in frames]
    frames += frames[-1:] * (len(frames) % 2)
    return [frames[first : first + 2] for first in range(0, len(frames), 2)]


def unit(vector: torch.Tensor) -> np.ndarray:
    values = vector.detach().double().numpy()
    return values / np.linalg.norm(values)

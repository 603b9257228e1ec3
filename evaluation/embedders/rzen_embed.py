"""RzenEmbed: Qwen2-VL prompted with a chat template that a mark of the text's end closes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.qwen_vl import IMAGE_MARK, VISION_END, VISION_START, Positions
from evaluation.inputs import EmbeddingInput

_PROMPT = "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"
_SIDE = 28
_FIRST_FEWEST, _FIRST_MOST = 4 * _SIDE * _SIDE, 16_384 * _SIDE * _SIDE


@dataclass(frozen=True, slots=True)
class RzenEmbedFormat:
    """A fixed system turn; the user turn holds images, instruction and text with nothing between.

    The authors' code hands the model embedded tokens, so it numbers them one after the other, images too. Several
    images, and the slices of a volume, are images in order with the smaller limits of a video's frames.
    """

    config: EncodeConfig
    positions = Positions.SEQUENTIAL

    def as_video(self, source: EmbeddingInput) -> bool:
        """Never: frames are images here."""
        del source
        return False

    def first_size(self, height: int, width: int) -> tuple[int, int]:
        """Sides rounded to multiples of 28, before the processor brings them under its own limits."""
        return rounded_size(height, width)

    def pixels(self, count: int, *, is_volume: bool) -> tuple[int, int]:
        """The limits of one image, or of one of several."""
        kind = "frame_pixels" if is_volume or count > 1 else "pixels"
        return self.config.whole(f"min_{kind}"), self.config.whole(f"max_{kind}")

    def prompt(self, source: EmbeddingInput, *, tokens: Sequence[int], text: str) -> str:
        """The chat prompt with its images expanded."""
        marks = "".join(f"{VISION_START}{IMAGE_MARK * count}{VISION_END}" for count in tokens)
        return _PROMPT.format(system=self.config.text("system"), content=marks + source.instruction + text)


def rounded_size(height: int, width: int) -> tuple[int, int]:
    """Sides as multiples of 28, at least one, with 3,136 to 12,845,056 pixels and nearly the same proportions."""
    rows, columns = (max(_SIDE, round(side / _SIDE) * _SIDE) for side in (height, width))
    if rows * columns > _FIRST_MOST:
        factor = math.sqrt(height * width / _FIRST_MOST)
        rows, columns = (math.floor(side / factor / _SIDE) * _SIDE for side in (height, width))
    elif rows * columns < _FIRST_FEWEST:
        factor = math.sqrt(_FIRST_FEWEST / (height * width))
        rows, columns = (math.ceil(side * factor / _SIDE) * _SIDE for side in (height, width))
    return rows, columns

"""Qwen3-VL-Embedding and models trained from it, such as MedEmb, with or without an adapter."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.qwen_vl import IMAGE_MARK, VIDEO_MARK, VISION_END, VISION_START, Positions
from evaluation.inputs import EmbeddingInput

_PROMPT = "<|im_start|>system\n{instruction}<|im_end|>\n<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True, slots=True)
class Qwen3VlFormat:
    """A chat prompt: the system turn holds the instruction, the user turn the images in order and then the text.

    The answer's opening mark follows. A volume is a video of its slices, two a step, each step after the time at which
    its frames are shown; or its slices are images in order, as the config says.
    """

    config: EncodeConfig
    positions = Positions.OWN

    def as_video(self, source: EmbeddingInput) -> bool:
        """Volumes, where the config says so."""
        return source.is_volume and self.config.flag("volumes_as_videos")

    def first_size(self, height: int, width: int) -> tuple[int, int]:
        """Its own: images are brought to size once."""
        return height, width

    def pixels(self, count: int, *, is_volume: bool) -> tuple[int, int]:
        """Limits that keep all images of an input together under `max_total_pixels`; two frames share a step."""
        video = is_volume and self.config.flag("volumes_as_videos")
        fewest = self.config.whole("min_frame_pixels" if video else "min_pixels")
        largest = self.config.whole("max_slice_pixels" if is_volume else "max_pixels")
        share = self.config.whole("max_total_pixels") * (2 if video else 1) // count
        return fewest, max(fewest, min(largest, share))

    def prompt(self, source: EmbeddingInput, *, tokens: Sequence[int], text: str) -> str:
        """The chat prompt with its images expanded."""
        content = _frame_marks(tokens) if self.as_video(source) else _image_marks(tokens)
        instruction = system_instruction(source.instruction, default=self.config.text("default_instruction"))
        return _PROMPT.format(instruction=instruction, content=content + text)


def system_instruction(instruction: str, *, default: str) -> str:
    """The instruction as the model was trained to read it: the default where empty, and ending in punctuation."""
    stripped = instruction.strip()
    if not stripped:
        return default
    return stripped if unicodedata.category(stripped[-1]).startswith("P") else f"{stripped}."


def _image_marks(tokens: Sequence[int]) -> str:
    return "".join(f"{VISION_START}{IMAGE_MARK * count}{VISION_END}" for count in tokens)


def _frame_marks(tokens: Sequence[int]) -> str:
    """Steps of two frames, two frames a second: the middle of step n lies at n + 1/4 seconds, shown with one digit."""
    return "".join(
        f"<{step + 0.25:.1f} seconds>{VISION_START}{VIDEO_MARK * count}{VISION_END}"
        for step, count in enumerate(tokens)
    )

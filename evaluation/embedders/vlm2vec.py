"""VLM2Vec-V2.0: Qwen2-VL with an adapter, prompted without a chat template."""

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.embedders.encode_config import EncodeConfig
from evaluation.embedders.qwen_vl import IMAGE_MARK, VIDEO_MARK, VISION_END, VISION_START, Positions
from evaluation.inputs import EmbeddingInput


@dataclass(frozen=True, slots=True)
class Vlm2VecFormat:
    """Marks of images, then the instruction, then the text, with a space between.

    The authors write the bare mark of an image. Positions by row and column are looked for behind a mark of vision's
    start, so that with bare marks all tokens are numbered one after the other. The MedHEB release writes the marks of
    start and end, which gives the other positions: the two belong together.
    """

    config: EncodeConfig

    @property
    def positions(self) -> Positions:
        """One after the other with bare marks."""
        return Positions.BY_GRID if self.config.flag("vision_start_and_end") else Positions.SEQUENTIAL

    def as_video(self, source: EmbeddingInput) -> bool:
        """Volumes are videos of their slices."""
        return source.is_volume

    def first_size(self, height: int, width: int) -> tuple[int, int]:
        """Its own: images are brought to size once."""
        return height, width

    def pixels(self, count: int, *, is_volume: bool) -> tuple[int, int]:
        """One pair of limits for images and one for slices, whatever their number."""
        del count
        most = self.config.whole("max_slice_pixels" if is_volume else "max_pixels")
        return self.config.whole("min_pixels"), most

    def prompt(self, source: EmbeddingInput, *, tokens: Sequence[int], text: str) -> str:
        """The parts that are there, with a space between."""
        parts = (self._marks(source, tokens), source.instruction.strip(), text)
        return " ".join(part for part in parts if part)

    def _marks(self, source: EmbeddingInput, tokens: Sequence[int]) -> str:
        runs = [VIDEO_MARK * sum(tokens)] if self.as_video(source) else [IMAGE_MARK * count for count in tokens]
        if self.config.flag("vision_start_and_end"):
            return "".join(f"{VISION_START}{run}{VISION_END}" for run in runs)
        return "".join(runs)

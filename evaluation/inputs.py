"""What is embedded: a text, an image, several images, a volume, or text with any of them."""

from dataclasses import dataclass
from pathlib import Path

from evaluation.vocabulary import InputKind

MAX_VOLUME_SLICES = 64
MAX_IMAGE_PIXELS = 64_000_000
MAX_VOLUME_VOXELS = 512 * 512 * 2048

_LABEL_TEXT_LENGTH = 40


@dataclass(frozen=True, slots=True)
class EmbeddingInput:
    """One thing to embed.

    `images` are files in reading order; with `is_volume` they are the slices of one volume (or a single NIfTI file or
    a folder with one DICOM series). `instruction` is given with queries only.
    """

    text: str = ""
    images: tuple[Path, ...] = ()
    is_volume: bool = False
    instruction: str = ""

    @property
    def kinds(self) -> frozenset[InputKind]:
        """The kinds of evidence in this input, e.g. `{text, image}`."""
        kinds = set()
        if self.text:
            kinds.add(InputKind.TEXT)
        if self.is_volume:
            kinds.add(InputKind.VOLUME)
        elif self.images:
            kinds.add(InputKind.IMAGE if len(self.images) == 1 else InputKind.IMAGES)
        return frozenset(kinds)

    @property
    def label(self) -> str:
        """A short name for messages: the first file and how many there are, and the start of the text."""
        parts = []
        if self.images:
            kind = "volume" if self.is_volume else "image"
            more = f" and {len(self.images) - 1} more" if len(self.images) > 1 else ""
            parts.append(f"{kind} {self.images[0]}{more}")
        if self.text:
            dots = "…" if len(self.text) > _LABEL_TEXT_LENGTH else ""
            parts.append(f"text {self.text[:_LABEL_TEXT_LENGTH]!r}{dots}")
        return " with ".join(parts) or "an input without text and images"

"""What is embedded: a text, an image, several images, a volume, or text with any of them."""

from dataclasses import dataclass
from pathlib import Path

from evaluation.vocabulary import InputKind

MAX_VOLUME_SLICES = 64
MAX_IMAGE_PIXELS = 64_000_000
MAX_VOLUME_VOXELS = 512 * 512 * 2048

_LABEL_TEXT_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Plane:
    """One axial slice of a NIfTI volume, for models of plane images.

    `slice_index` counts from the feet, from 0, in the volume's closest canonical orientation. Intensities from
    level - width / 2 to level + width / 2 are shown, as radiologists set a window.
    """

    slice_index: int
    level: float
    width: float


@dataclass(frozen=True, slots=True)
class EmbeddingInput:
    """One thing to embed.

    `images` are files in reading order; with `is_volume` they are the slices of one volume (or a single NIfTI file or
    a folder with one DICOM series). With `plane`, `images` is one NIfTI file of which a single slice is the image.
    `instruction` is given with queries only.
    """

    text: str = ""
    images: tuple[Path, ...] = ()
    is_volume: bool = False
    instruction: str = ""
    plane: Plane | None = None

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
            kind = (
                "volume" if self.is_volume else "image" if self.plane is None else f"slice {self.plane.slice_index} of"
            )
            more = f" and {len(self.images) - 1} more" if len(self.images) > 1 else ""
            parts.append(f"{kind} {self.images[0]}{more}")
        if self.text:
            dots = "…" if len(self.text) > _LABEL_TEXT_LENGTH else ""
            parts.append(f"text {self.text[:_LABEL_TEXT_LENGTH]!r}{dots}")
        return " with ".join(parts) or "an input without text and images"

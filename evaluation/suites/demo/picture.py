"""What drawing one phantom gives."""

from dataclasses import dataclass

from evaluation.suites.demo.canvas import Box, Pixels


@dataclass(frozen=True, slots=True)
class Picture:
    """Pixels, the box of the finding where it has one, the image side it lies on, and a report of a sentence or two."""

    pixels: Pixels
    caption: str
    side: str = ""
    box: Box | None = None


def side_of(column: float) -> str:
    """The image side of a column coordinate."""
    return "left" if column < 0 else "right"

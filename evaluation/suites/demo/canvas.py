"""Drawing primitives on a square canvas whose coordinates run from -1 (left, top) to 1 (right, bottom).

Images are float arrays in [0, 1], (size, size) or (size, size, 3); masks are floats in [0, 1].
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Floats = NDArray[np.float64]
Pixels = NDArray[np.uint8]
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Look:
    """How one machine renders: exponent of the tone curve, noise (SD of values in [0, 1]), tint, darkened corners."""

    gamma: float
    noise: float
    tint: tuple[float, float, float]
    corners: float


MACHINE_A = Look(gamma=1.0, noise=0.02, tint=(1.0, 1.0, 1.0), corners=0.0)
MACHINE_B = Look(gamma=0.75, noise=0.045, tint=(1.0, 0.96, 0.9), corners=0.25)


@cache
def grid(size: int) -> tuple[Floats, Floats]:
    """Row and column coordinates, each (size, size)."""
    axis = np.linspace(-1.0, 1.0, size)
    rows, columns = np.meshgrid(axis, axis, indexing="ij")
    rows.setflags(write=False)
    columns.setflags(write=False)
    return rows, columns


def ellipse(
    size: int, *, centre: tuple[float, float], radii: tuple[float, float], angle: float = 0.0, softness: float = 0.06
) -> Floats:
    """A filled ellipse; `centre` and `radii` are (row, column); the edge fades over `softness` of the radius."""
    rows, columns = grid(size)
    down, right = rows - centre[0], columns - centre[1]
    if angle:
        cosine, sine = np.cos(angle), np.sin(angle)
        down, right = down * cosine - right * sine, down * sine + right * cosine
    distance = np.sqrt((down / radii[0]) ** 2 + (right / radii[1]) ** 2)
    return np.clip((1.0 - distance) / softness + 0.5, 0.0, 1.0)


def blob(size: int, rng: np.random.Generator, *, centre: tuple[float, float], radius: float, wobble: float) -> Floats:
    """A filled shape with an irregular outline; `wobble` is the relative amplitude of its waves."""
    rows, columns = grid(size)
    down, right = rows - centre[0], columns - centre[1]
    theta = np.arctan2(down, right)
    outline = np.ones_like(theta)
    for waves in range(2, 7):
        outline += wobble / waves * 2 * np.sin(waves * theta + rng.uniform(0, 2 * np.pi))
    return np.clip((outline - np.hypot(down, right) / radius) / 0.1 + 0.5, 0.0, 1.0)


def line(size: int, *, start: tuple[float, float], end: tuple[float, float], width: float) -> Floats:
    """A straight stroke from `start` to `end`, (row, column)."""
    rows, columns = grid(size)
    along = (end[0] - start[0], end[1] - start[1])
    length = along[0] ** 2 + along[1] ** 2
    place = np.clip(((rows - start[0]) * along[0] + (columns - start[1]) * along[1]) / length, 0.0, 1.0)
    distance = np.hypot(rows - start[0] - place * along[0], columns - start[1] - place * along[1])
    return np.clip((width - distance) / (0.5 * width) + 0.5, 0.0, 1.0)


def texture(size: int, rng: np.random.Generator, cells: int) -> Floats:
    """Smooth noise in about [-1, 1] with `cells` bumps along an edge."""
    coarse = Image.fromarray(rng.uniform(-1.0, 1.0, (cells, cells)).astype(np.float32))
    return np.asarray(coarse.resize((size, size), Image.Resampling.BICUBIC), dtype=np.float64)


def paint(image: Floats, mask: Floats, colour: float | tuple[float, float, float], opacity: float = 1.0) -> Floats:
    """The image with `colour` laid over it where the mask is."""
    cover = mask * opacity
    if image.ndim == 3:  # noqa: PLR2004 -- rows, columns, colours
        cover = cover[..., None]
    return image * (1.0 - cover) + np.asarray(colour) * cover


def colour_plane(size: int, colour: tuple[float, float, float]) -> Floats:
    """An even colour image."""
    return np.broadcast_to(np.asarray(colour, dtype=np.float64), (size, size, 3)).copy()


def render(image: Floats, rng: np.random.Generator, look: Look) -> Pixels:
    """The image as 8-bit pixels as the machine of `look` would show it."""
    shown = np.clip(image, 0.0, 1.0) ** look.gamma
    if look.corners:
        rows, columns = grid(image.shape[0])
        shade = 1.0 - look.corners * (rows**2 + columns**2) / 2
        shown = shown * (shade[..., None] if image.ndim == 3 else shade)  # noqa: PLR2004 -- as in paint
    if image.ndim == 3:  # noqa: PLR2004 -- as in paint
        shown = shown * np.asarray(look.tint)
    noisy = shown + rng.normal(0.0, look.noise, image.shape)
    return np.round(np.clip(noisy, 0.0, 1.0) * 255).astype(np.uint8)


def box_around(mask: Floats, margin: int) -> Box:
    """Left, top, right, bottom (the last two exclusive) of where the mask exceeds one half, with a margin."""
    size = mask.shape[0]
    rows = np.flatnonzero((mask > 0.5).any(axis=1))  # noqa: PLR2004 -- half covered
    columns = np.flatnonzero((mask > 0.5).any(axis=0))  # noqa: PLR2004 -- half covered
    return (
        max(int(columns[0]) - margin, 0),
        max(int(rows[0]) - margin, 0),
        min(int(columns[-1]) + 1 + margin, size),
        min(int(rows[-1]) + 1 + margin, size),
    )

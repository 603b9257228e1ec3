"""Dermoscopy phantoms."""

import numpy as np

from evaluation.suites.demo.canvas import (
    Floats,
    Look,
    blob,
    box_around,
    colour_plane,
    ellipse,
    line,
    paint,
    render,
    texture,
)
from evaluation.suites.demo.picture import Picture

SIZE = 112
FINDINGS = ("melanocytic naevus", "melanoma", "seborrhoeic keratosis", "vascular lesion")


def draw_skin(finding: str, rng: np.random.Generator, look: Look) -> Picture:
    """One lesion on skin of a random tone, with a hair or two."""
    tone = rng.uniform(0.0, 1.0)
    skin = (0.92 - 0.25 * tone, 0.74 - 0.3 * tone, 0.64 - 0.32 * tone)
    image = colour_plane(SIZE, skin) + 0.03 * texture(SIZE, rng, 18)[..., None]
    centre = (rng.uniform(-0.15, 0.15), rng.uniform(-0.15, 0.15))
    radius = rng.uniform(0.36, 0.5)
    image, mask, words = _LESIONS[finding](image, rng, centre, radius)
    for _ in range(int(rng.integers(0, 3))):
        start, end = (-1.0, rng.uniform(-1, 1)), (1.0, rng.uniform(-1, 1))
        image = paint(image, line(SIZE, start=start, end=end, width=0.012), (0.15, 0.1, 0.08), 0.7)
    return Picture(
        pixels=render(image, rng, look),
        caption=f"Dermoscopy: {finding}, {words}, {round(20 * radius)} mm across.",
        box=box_around(mask, 4),
    )


def _naevus(
    image: Floats, rng: np.random.Generator, centre: tuple[float, float], radius: float
) -> tuple[Floats, Floats, str]:
    mask = blob(SIZE, rng, centre=centre, radius=radius, wobble=0.02)
    return paint(image, mask, (0.5, 0.3, 0.18), 0.95), mask, "round, even brown"


def _melanoma(
    image: Floats, rng: np.random.Generator, centre: tuple[float, float], radius: float
) -> tuple[Floats, Floats, str]:
    mask = blob(SIZE, rng, centre=centre, radius=radius, wobble=0.2)
    image = paint(image, mask, (0.28, 0.15, 0.1))
    for colour in ((0.05, 0.04, 0.06), (0.3, 0.35, 0.5), (0.6, 0.25, 0.2)):
        place = (centre[0] + rng.uniform(-0.2, 0.2), centre[1] + rng.uniform(-0.2, 0.2))
        image = paint(image, mask * blob(SIZE, rng, centre=place, radius=radius * 0.45, wobble=0.2), colour, 0.9)
    return image, mask, "irregular outline, black, blue and red areas"


def _keratosis(
    image: Floats, rng: np.random.Generator, centre: tuple[float, float], radius: float
) -> tuple[Floats, Floats, str]:
    mask = blob(SIZE, rng, centre=centre, radius=radius, wobble=0.06)
    image = paint(image, mask, (0.66, 0.52, 0.3))
    for _ in range(14):
        angle, reach = rng.uniform(0, 2 * np.pi), radius * 0.75 * np.sqrt(rng.uniform())
        place = (centre[0] + reach * np.sin(angle), centre[1] + reach * np.cos(angle))
        image = paint(image, ellipse(SIZE, centre=place, radii=(0.045, 0.045)), (0.93, 0.88, 0.68))
    return image, mask, "waxy, with pale milia-like cysts"


def _vascular(
    image: Floats, rng: np.random.Generator, centre: tuple[float, float], radius: float
) -> tuple[Floats, Floats, str]:
    mask = blob(SIZE, rng, centre=centre, radius=radius, wobble=0.05)
    image = paint(image, mask, (0.72, 0.1, 0.16))
    for _ in range(6):
        place = (centre[0] + rng.uniform(-0.25, 0.25), centre[1] + rng.uniform(-0.25, 0.25))
        image = paint(image, mask * ellipse(SIZE, centre=place, radii=(0.1, 0.1)), (0.45, 0.03, 0.15))
    return image, mask, "red lagoons"


_LESIONS = {
    "melanocytic naevus": _naevus,
    "melanoma": _melanoma,
    "seborrhoeic keratosis": _keratosis,
    "vascular lesion": _vascular,
}

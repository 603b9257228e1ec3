"""Blood smear phantoms."""

import numpy as np

from evaluation.suites.demo.canvas import Floats, Look, box_around, colour_plane, ellipse, paint, render, texture
from evaluation.suites.demo.picture import Picture

SIZE = 112
FINDINGS = ("lymphocyte", "neutrophil", "eosinophil", "platelet cluster")
NUCLEUS = (0.33, 0.16, 0.5)


def draw_blood(finding: str, rng: np.random.Generator, look: Look) -> Picture:
    """One white cell, or a cluster of platelets, among red cells."""
    image = colour_plane(SIZE, (0.95, 0.9, 0.88)) + 0.015 * texture(SIZE, rng, 12)[..., None]
    red_cells = int(rng.integers(6, 11))
    for _ in range(red_cells):
        angle = rng.uniform(0, 2 * np.pi)
        place = (0.8 * np.sin(angle) + rng.uniform(-0.12, 0.12), 0.8 * np.cos(angle) + rng.uniform(-0.12, 0.12))
        image = paint(image, ellipse(SIZE, centre=place, radii=(0.2, 0.2)), (0.88, 0.55, 0.52), 0.9)
        image = paint(image, ellipse(SIZE, centre=place, radii=(0.08, 0.08), softness=0.8), (0.95, 0.75, 0.72))
    centre = (rng.uniform(-0.12, 0.12), rng.uniform(-0.12, 0.12))
    image, mask = _CELLS[finding](image, rng, centre)
    return Picture(
        pixels=render(image, rng, look),
        caption=f"Blood smear: one {finding} among {red_cells} red cells.",
        box=box_around(mask, 3),
    )


def _lymphocyte(image: Floats, rng: np.random.Generator, centre: tuple[float, float]) -> tuple[Floats, Floats]:
    cell = ellipse(SIZE, centre=centre, radii=(0.34, 0.34))
    image = paint(image, cell, (0.72, 0.78, 0.92))
    size = rng.uniform(0.26, 0.29)
    return paint(image, ellipse(SIZE, centre=centre, radii=(size, size)), NUCLEUS), cell


def _neutrophil(image: Floats, rng: np.random.Generator, centre: tuple[float, float]) -> tuple[Floats, Floats]:
    cell = ellipse(SIZE, centre=centre, radii=(0.42, 0.42))
    return _lobes(paint(image, cell, (0.9, 0.82, 0.88)), rng, centre, lobes=4), cell


def _eosinophil(image: Floats, rng: np.random.Generator, centre: tuple[float, float]) -> tuple[Floats, Floats]:
    cell = ellipse(SIZE, centre=centre, radii=(0.42, 0.42))
    image = paint(image, cell, (0.93, 0.6, 0.45))
    for _ in range(40):
        angle, reach = rng.uniform(0, 2 * np.pi), 0.38 * np.sqrt(rng.uniform())
        place = (centre[0] + reach * np.sin(angle), centre[1] + reach * np.cos(angle))
        image = paint(image, ellipse(SIZE, centre=place, radii=(0.035, 0.035)), (0.85, 0.25, 0.1))
    return _lobes(image, rng, centre, lobes=2), cell


def _lobes(image: Floats, rng: np.random.Generator, centre: tuple[float, float], lobes: int) -> Floats:
    turn = rng.uniform(0, 2 * np.pi)
    for lobe in range(lobes):
        angle = turn + lobe * (2 * np.pi / lobes if lobes == 2 else 1.2)  # noqa: PLR2004 -- two lobes lie opposite
        place = (centre[0] + 0.19 * np.sin(angle), centre[1] + 0.19 * np.cos(angle))
        image = paint(image, ellipse(SIZE, centre=place, radii=(0.13, 0.12)), NUCLEUS)
    return image


def _platelets(image: Floats, rng: np.random.Generator, centre: tuple[float, float]) -> tuple[Floats, Floats]:
    cluster = np.zeros((SIZE, SIZE))
    for _ in range(int(rng.integers(8, 13))):
        place = (centre[0] + rng.uniform(-0.3, 0.3), centre[1] + rng.uniform(-0.3, 0.3))
        cluster = np.maximum(cluster, ellipse(SIZE, centre=place, radii=(0.06, 0.05)))
    return paint(image, cluster, (0.5, 0.35, 0.65)), cluster


_CELLS = {
    "lymphocyte": _lymphocyte,
    "neutrophil": _neutrophil,
    "eosinophil": _eosinophil,
    "platelet cluster": _platelets,
}

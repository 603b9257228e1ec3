"""Colour fundus phantoms."""

import numpy as np

from evaluation.suites.demo.canvas import Floats, Look, box_around, ellipse, line, paint, render, texture
from evaluation.suites.demo.picture import Picture, side_of

SIZE = 112
FINDINGS = ("healthy retina", "retinal haemorrhages", "hard exudates", "enlarged optic cup")


def draw_retina(finding: str, rng: np.random.Generator, look: Look) -> Picture:
    """A fundus with disc, vessels and macula; spots lie in one cluster."""
    side = rng.choice((-1.0, 1.0))
    disc = (rng.uniform(-0.08, 0.08), side * rng.uniform(0.42, 0.52))
    field = ellipse(SIZE, centre=(0.0, 0.0), radii=(0.95, 0.95))
    image = paint(np.zeros((SIZE, SIZE, 3)), field, (0.72, 0.32, 0.12))
    image = image + 0.03 * texture(SIZE, rng, 10)[..., None] * field[..., None]
    image = paint(image, ellipse(SIZE, centre=(0.0, -0.1 * side), radii=(0.16, 0.16), softness=0.8), (0.45, 0.15, 0.06))
    image = _vessels(image, rng, disc, side)
    image = paint(image, ellipse(SIZE, centre=disc, radii=(0.17, 0.15)), (0.95, 0.72, 0.42))
    cup = 0.13 if finding == "enlarged optic cup" else 0.045
    image = paint(image, ellipse(SIZE, centre=disc, radii=(cup, cup)), (1.0, 0.97, 0.85))
    centre = (rng.choice((-1.0, 1.0)) * rng.uniform(0.25, 0.4), -side * rng.uniform(0.05, 0.35))
    image, mask, words = _spots(image, finding, rng, centre)
    if finding == "enlarged optic cup":
        mask = ellipse(SIZE, centre=disc, radii=(0.2, 0.18))
        words = "enlarged optic cup, cup to disc ratio 0.8"
    return Picture(
        pixels=render(np.clip(image, 0, 1) * field[..., None], rng, look),
        caption=f"Colour fundus photograph: {words}. Optic disc on the {side_of(disc[1])}.",
        side="" if mask is None else side_of(disc[1] if finding == "enlarged optic cup" else centre[1]),
        box=None if mask is None else box_around(mask, 4),
    )


def _vessels(image: Floats, rng: np.random.Generator, disc: tuple[float, float], side: float) -> Floats:
    for vertical in (-1.0, 1.0):
        bend = (vertical * rng.uniform(0.4, 0.55), side * rng.uniform(0.05, 0.2))
        end = (vertical * rng.uniform(0.3, 0.6), -side * 0.7)
        for start, stop in ((disc, bend), (bend, end)):
            image = paint(image, line(SIZE, start=start, end=stop, width=0.025), (0.45, 0.06, 0.05), 0.9)
    return image


def _spots(
    image: Floats, finding: str, rng: np.random.Generator, centre: tuple[float, float]
) -> tuple[Floats, Floats | None, str]:
    if finding not in ("retinal haemorrhages", "hard exudates"):
        return image, None, finding
    dark = finding == "retinal haemorrhages"
    number = int(rng.integers(7, 12))
    cluster = np.zeros((SIZE, SIZE))
    for _ in range(number):
        place = (centre[0] + rng.uniform(-0.2, 0.2), centre[1] + rng.uniform(-0.2, 0.2))
        radius = rng.uniform(0.05, 0.09) if dark else rng.uniform(0.03, 0.05)
        cluster = np.maximum(cluster, ellipse(SIZE, centre=place, radii=(radius, radius * 1.2)))
    where = "above" if centre[0] < 0 else "below"
    image = paint(image, cluster, (0.25, 0.0, 0.02) if dark else (1.0, 0.95, 0.35))
    return image, cluster, f"{number} {finding} {where} the macula"

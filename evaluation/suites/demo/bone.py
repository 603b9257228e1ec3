"""Forearm radiograph phantoms."""

import numpy as np

from evaluation.suites.demo.canvas import Floats, Look, box_around, ellipse, line, paint, render, texture
from evaluation.suites.demo.picture import Picture, side_of

SIZE = 112
FINDINGS = ("intact bone", "transverse fracture", "lytic lesion", "fixation plate")


def draw_bone(finding: str, rng: np.random.Generator, look: Look) -> Picture:
    """Two long bones in soft tissue, one of them with the finding."""
    tilt = rng.uniform(-0.12, 0.12)
    column = rng.choice((-1.0, 1.0)) * rng.uniform(0.2, 0.3)
    row = rng.uniform(-0.45, 0.45)
    image = paint(np.full((SIZE, SIZE), 0.05), line(SIZE, start=(-1.2, 0.0), end=(1.2, 0.0), width=0.62), 0.28)
    image = _shaft(image, -column, tilt)
    mask: Floats | None
    if finding == "transverse fracture":
        image, mask = _broken_shaft(image, column, tilt, row)
    else:
        image = _shaft(image, column, tilt)
        image, mask = _finding(image, finding, (row, column + tilt * row))
    third = "proximal" if row < -0.15 else "distal" if row > 0.15 else "middle"  # noqa: PLR2004 -- thirds of the shaft
    side = side_of(column)
    return Picture(
        pixels=render(image + 0.02 * texture(SIZE, rng, 14), rng, look),
        caption=f"Forearm radiograph: {finding}, {third} third of the shaft on the {side} of the image."
        if mask is not None
        else f"Forearm radiograph: {finding}, both shafts are straight and continuous.",
        side="" if mask is None else side,
        box=None if mask is None else box_around(mask, 5),
    )


def _shaft(image: Floats, column: float, tilt: float, *, top: float = -1.2, bottom: float = 1.2) -> Floats:
    start, end = (top, column + tilt * top), (bottom, column + tilt * bottom)
    image = paint(image, line(SIZE, start=start, end=end, width=0.13), 0.92)
    return paint(image, line(SIZE, start=start, end=end, width=0.05), 0.6)


def _broken_shaft(image: Floats, column: float, tilt: float, row: float) -> tuple[Floats, Floats]:
    image = _shaft(image, column, tilt, bottom=row - 0.16)
    image = _shaft(image, column + 0.14, tilt, top=row + 0.16)
    return image, ellipse(SIZE, centre=(row, column + 0.07), radii=(0.22, 0.28))


def _finding(image: Floats, finding: str, centre: tuple[float, float]) -> tuple[Floats, Floats | None]:
    if finding == "lytic lesion":
        mask = ellipse(SIZE, centre=centre, radii=(0.22, 0.15))
        return paint(image, mask, 0.22), mask
    if finding == "fixation plate":
        mask = line(SIZE, start=(centre[0] - 0.35, centre[1]), end=(centre[0] + 0.35, centre[1]), width=0.08)
        image = paint(image, mask, 1.0)
        for offset in (-0.28, -0.1, 0.1, 0.28):
            row = centre[0] + offset
            screw = line(SIZE, start=(row, centre[1] - 0.2), end=(row, centre[1] + 0.2), width=0.03)
            image = paint(image, screw, 1.0)
        return image, mask
    return image, None

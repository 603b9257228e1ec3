"""Abdominal CT slice phantoms."""

import numpy as np

from evaluation.suites.demo.canvas import Floats, Look, blob, box_around, ellipse, paint, render, texture
from evaluation.suites.demo.picture import Picture, side_of

SIZE = 112
FINDINGS = ("no lesion", "liver cyst", "calcified stone", "ascites")


def draw_abdomen(finding: str, rng: np.random.Generator, look: Look) -> Picture:
    """An axial slice with liver, spleen, kidneys and spine; the liver lies on the image's left."""
    image = paint(np.zeros((SIZE, SIZE)), ellipse(SIZE, centre=(0.0, 0.0), radii=(0.72, 0.94)), 0.3)
    cavity = ellipse(SIZE, centre=(-0.02, 0.0), radii=(0.62, 0.84))
    image = paint(image, cavity, 0.82 if finding == "ascites" else 0.42)
    if finding == "ascites":
        image = paint(image, ellipse(SIZE, centre=(-0.05, 0.1), radii=(0.4, 0.5)), 0.42)
    liver = blob(SIZE, rng, centre=(-0.12, -0.42), radius=0.36, wobble=0.05)
    image = paint(image, liver, 0.62)
    image = paint(image, ellipse(SIZE, centre=(0.0, 0.6), radii=(0.26, 0.14), angle=0.3), 0.58)
    kidneys = [(0.3, -0.36), (0.3, 0.36)]
    for centre in kidneys:
        image = paint(image, ellipse(SIZE, centre=centre, radii=(0.16, 0.12)), 0.7)
    image = paint(image, ellipse(SIZE, centre=(0.42, 0.0), radii=(0.15, 0.13)), 0.95)
    image, mask, column, caption = _finding(image, finding, rng)
    return Picture(
        pixels=render(image + 0.025 * texture(SIZE, rng, 16), rng, look),
        caption=f"Axial CT of the abdomen: {caption}.",
        side="" if mask is None else side_of(column),
        box=None if mask is None else box_around(mask, 5),
    )


def _finding(image: Floats, finding: str, rng: np.random.Generator) -> tuple[Floats, Floats | None, float, str]:
    if finding == "liver cyst":
        centre = (rng.uniform(-0.25, 0.02), rng.uniform(-0.52, -0.32))
        radius = rng.uniform(0.12, 0.19)
        mask = ellipse(SIZE, centre=centre, radii=(radius, radius))
        size = round(120 * radius)
        return paint(image, mask, 0.1), mask, centre[1], f"liver cyst of {size} mm, sharply outlined and dark"
    if finding == "calcified stone":
        column = rng.choice((-0.36, 0.36)) + rng.uniform(-0.03, 0.03)
        mask = ellipse(SIZE, centre=(0.3 + rng.uniform(-0.05, 0.05), column), radii=(0.08, 0.08))
        caption = f"calcified stone in the kidney on the image's {side_of(column)}"
        return paint(image, mask, 1.0), mask, column, caption
    if finding == "ascites":
        return image, None, 0.0, "ascites, a broad rim of fluid around the bowel"
    return image, None, 0.0, "no lesion of liver, spleen or kidneys"

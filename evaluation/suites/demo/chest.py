"""Chest phantoms: a radiograph and a CT volume of the same imagined patient."""

from dataclasses import dataclass

import numpy as np

from evaluation.suites.demo.canvas import Floats, Look, Pixels, box_around, ellipse, grid, line, paint, render, texture
from evaluation.suites.demo.picture import Picture, side_of

SIZE = 112
CT_SIZE = 72
CT_SLICES = 5
FINDINGS = ("no finding", "lung nodule", "pleural effusion", "pneumothorax", "enlarged heart")


@dataclass(frozen=True, slots=True)
class ChestPatient:
    """What the radiograph and the CT of a patient share. Coordinates are those of the canvas."""

    finding: str
    lung_height: float
    lung_width: float
    heart_width: float
    heart_shift: float
    spot: tuple[float, float]
    spot_radius: float
    level: float


def imagine_chest(finding: str, rng: np.random.Generator) -> ChestPatient:
    """Draw a patient's anatomy and the place of the finding."""
    side = rng.choice((-1.0, 1.0))
    return ChestPatient(
        finding=finding,
        lung_height=rng.uniform(0.58, 0.72),
        lung_width=rng.uniform(0.27, 0.35),
        heart_width=rng.uniform(0.5, 0.58) if finding == "enlarged heart" else rng.uniform(0.24, 0.3),
        heart_shift=rng.uniform(0.06, 0.16),
        spot=(rng.uniform(-0.4, 0.25), side * rng.uniform(0.36, 0.5)),
        spot_radius=rng.uniform(0.1, 0.16),
        level=rng.uniform(0.05, 0.3),
    )


def draw_radiograph(patient: ChestPatient, rng: np.random.Generator, look: Look) -> Picture:
    """A frontal radiograph."""
    image = _film(patient, rng)
    image, mask = _film_finding(image, patient)
    side = "" if mask is None else side_of(patient.spot[1])
    return Picture(
        pixels=render(image, rng, look),
        caption=_report(patient, side),
        side=side,
        box=None if mask is None else box_around(mask, 4),
    )


def _film(patient: ChestPatient, rng: np.random.Generator) -> Floats:
    image = np.full((SIZE, SIZE), 0.08)
    image = paint(image, ellipse(SIZE, centre=(0.25, 0.0), radii=(1.15, 0.92)), 0.55)
    for column in (-0.43, 0.43):
        lung = ellipse(SIZE, centre=(0.0, column), radii=(patient.lung_height, patient.lung_width))
        image = paint(image, lung, 0.17)
    rows, columns = grid(SIZE)
    ribs = 0.07 * np.clip(np.sin((rows + 0.35 * columns**2) * 19.0), 0.0, 1.0)
    image = image + ribs * (np.abs(columns) > 0.1)  # noqa: PLR2004 -- the spine hides the ribs
    image = paint(image, line(SIZE, start=(-1.0, 0.0), end=(1.0, 0.0), width=0.09), 0.72, 0.7)
    heart = ellipse(SIZE, centre=(0.3, patient.heart_shift), radii=(0.36, patient.heart_width), angle=0.3)
    return paint(image, heart, 0.74, 0.9) + 0.02 * texture(SIZE, rng, 12)


def _film_finding(image: Floats, patient: ChestPatient) -> tuple[Floats, Floats | None]:
    row, column = patient.spot
    side = np.sign(column)
    lung = ellipse(SIZE, centre=(0.0, 0.43 * side), radii=(patient.lung_height, patient.lung_width))
    rows, columns = grid(SIZE)
    if patient.finding == "lung nodule":
        mask = ellipse(SIZE, centre=(row, column), radii=(patient.spot_radius, patient.spot_radius))
        return paint(image, mask, 0.85), mask
    if patient.finding == "pleural effusion":
        surface = patient.level - 0.35 * (np.abs(columns) - 0.43)
        mask = lung * np.clip((rows - surface) / 0.04, 0.0, 1.0)
        return paint(image, mask, 0.88), mask
    if patient.finding == "pneumothorax":
        inner = ellipse(SIZE, centre=(0.12, 0.36 * side), radii=(0.42, 0.17))
        mask = np.clip(lung - inner, 0.0, 1.0)
        return paint(paint(image, mask, 0.0), np.clip(inner * lung, 0.0, 1.0), 0.4, 0.6), mask
    return image, None


def draw_chest_volume(patient: ChestPatient, rng: np.random.Generator, look: Look) -> tuple[Pixels, ...]:
    """Axial CT slices from apex to base."""
    return tuple(
        render(_slice(patient, height, rng), rng, look) for height in np.linspace(-0.55, 0.6, CT_SLICES).tolist()
    )


def _slice(patient: ChestPatient, height: float, rng: np.random.Generator) -> Floats:
    image = paint(np.zeros((CT_SIZE, CT_SIZE)), ellipse(CT_SIZE, centre=(0.0, 0.0), radii=(0.66, 0.92)), 0.5)
    taper = np.sqrt(max(1.0 - (height / (patient.lung_height + 0.05)) ** 2, 0.04))
    for column in (-0.43, 0.43):
        radii = (0.48 * taper, patient.lung_width * taper)
        image = paint(image, ellipse(CT_SIZE, centre=(0.0, column), radii=radii), 0.08)
    image = paint(image, ellipse(CT_SIZE, centre=(0.42, 0.0), radii=(0.12, 0.12)), 0.95)
    if height > 0.0:
        centre = (-0.12, patient.heart_shift)
        image = paint(image, ellipse(CT_SIZE, centre=centre, radii=(0.28, patient.heart_width)), 0.66)
    return _slice_finding(image, patient, height, taper) + 0.02 * texture(CT_SIZE, rng, 10)


def _slice_finding(image: Floats, patient: ChestPatient, height: float, taper: float) -> Floats:
    row, column = patient.spot
    side = np.sign(column)
    lung = ellipse(CT_SIZE, centre=(0.0, 0.43 * side), radii=(0.48 * taper, patient.lung_width * taper))
    rows, _ = grid(CT_SIZE)
    if patient.finding == "lung nodule" and abs(height - row) < 0.3:  # noqa: PLR2004 -- slices that cut the nodule
        radii = (patient.spot_radius, patient.spot_radius)
        return paint(image, ellipse(CT_SIZE, centre=(0.0, column), radii=radii), 0.8)
    if patient.finding == "pleural effusion" and height > patient.level - 0.3:
        return paint(image, lung * np.clip((rows - 0.05) / 0.05, 0.0, 1.0), 0.6)
    if patient.finding == "pneumothorax":
        return paint(image, lung * np.clip((-0.05 - rows) / 0.05, 0.0, 1.0), 0.0)
    return image


def _report(patient: ChestPatient, side: str) -> str:
    zone = "upper" if patient.spot[0] < -0.1 else "lower"  # noqa: PLR2004 -- the middle of the lung
    width = round(20 * patient.heart_width)
    heart = f"Transverse heart diameter {width} cm."
    return {
        "no finding": f"Lungs are clear, no finding. {heart}",
        "lung nodule": f"Lung nodule of {round(100 * patient.spot_radius)} mm in the {side} {zone} zone. {heart}",
        "pleural effusion": f"Pleural effusion on the {side}, {round(10 - 20 * patient.level)} cm deep. {heart}",
        "pneumothorax": f"Pneumothorax on the {side} with a collapsed lung. {heart}",
        "enlarged heart": f"Enlarged heart, lungs are clear. {heart}",
    }[patient.finding]

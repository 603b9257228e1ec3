"""Head MR phantoms: a T1 and a T2 volume of the same imagined patient."""

from dataclasses import dataclass

import numpy as np

from evaluation.suites.demo.canvas import Floats, Look, Pixels, ellipse, paint, render, texture
from evaluation.suites.demo.picture import side_of

SIZE = 72
SLICES = 5
FINDINGS = ("no lesion", "brain tumour", "haemorrhage", "enlarged ventricles")

# Grey levels by contrast: skull fat, brain, cerebrospinal fluid, tumour, oedema, blood.
_LEVELS = {
    "T1": {"fat": 0.9, "brain": 0.5, "fluid": 0.1, "tumour": 0.3, "oedema": 0.4, "blood": 0.95},
    "T2": {"fat": 0.7, "brain": 0.38, "fluid": 0.98, "tumour": 0.72, "oedema": 0.85, "blood": 0.05},
}


@dataclass(frozen=True, slots=True)
class HeadPatient:
    """What both contrasts of a patient share. Coordinates are those of the canvas; `height` is along the slices."""

    finding: str
    length: float
    width: float
    ventricle: float
    spot: tuple[float, float]
    height: float
    radius: float


def imagine_head(finding: str, rng: np.random.Generator) -> HeadPatient:
    """Draw a patient's anatomy and the place of the finding."""
    return HeadPatient(
        finding=finding,
        length=rng.uniform(0.8, 0.92),
        width=rng.uniform(0.62, 0.74),
        ventricle=rng.uniform(0.15, 0.19) if finding == "enlarged ventricles" else rng.uniform(0.05, 0.08),
        spot=(rng.choice((-1.0, 1.0)) * rng.uniform(0.2, 0.4), rng.choice((-1.0, 1.0)) * rng.uniform(0.25, 0.35)),
        height=rng.uniform(-0.35, 0.35),
        radius=rng.uniform(0.2, 0.28),
    )


def draw_head_volume(patient: HeadPatient, contrast: str, rng: np.random.Generator, look: Look) -> tuple[Pixels, ...]:
    """Axial slices from base to vertex in one contrast, `T1` or `T2`."""
    levels = _LEVELS[contrast]
    heights = np.linspace(-0.6, 0.6, SLICES).tolist()
    return tuple(
        render(_slice(patient, height, levels) + 0.02 * texture(SIZE, rng, 10), rng, look) for height in heights
    )


def head_report(patient: HeadPatient) -> str:
    """A sentence that tells this patient's volume from others."""
    lobe = "frontal" if patient.spot[0] < 0 else "occipital"
    side = side_of(patient.spot[1])
    size = round(100 * patient.radius)
    return {
        "no lesion": f"Head MR: no lesion, skull {round(200 * patient.length)} mm long.",
        "brain tumour": f"Head MR: brain tumour of {size} mm with oedema, {lobe} lobe on the image's {side}.",
        "haemorrhage": f"Head MR: haemorrhage of {size} mm, {lobe} lobe on the image's {side}.",
        "enlarged ventricles": f"Head MR: enlarged ventricles, {round(200 * patient.ventricle)} mm wide.",
    }[patient.finding]


def _slice(patient: HeadPatient, height: float, levels: dict[str, float]) -> Floats:
    scale = np.sqrt(1.0 - height**2)
    outline = (patient.length * scale, patient.width * scale)
    image = paint(np.zeros((SIZE, SIZE)), ellipse(SIZE, centre=(0.0, 0.0), radii=outline), levels["fat"])
    image = paint(image, ellipse(SIZE, centre=(0.0, 0.0), radii=(outline[0] * 0.92, outline[1] * 0.92)), 0.03)
    image = paint(
        image, ellipse(SIZE, centre=(0.0, 0.0), radii=(outline[0] * 0.86, outline[1] * 0.86)), levels["brain"]
    )
    for column in (-1.0, 1.0):
        centre = (-0.05, column * (patient.ventricle + 0.04))
        radii = (2.2 * patient.ventricle * scale, patient.ventricle * scale)
        image = paint(image, ellipse(SIZE, centre=centre, radii=radii), levels["fluid"])
    return _finding(image, patient, abs(height - patient.height), levels)


def _finding(image: Floats, patient: HeadPatient, distance: float, levels: dict[str, float]) -> Floats:
    reach = 1.0 - distance / 0.65
    if reach <= 0 or patient.finding not in ("brain tumour", "haemorrhage"):
        return image
    radius = patient.radius * np.sqrt(reach)
    if patient.finding == "haemorrhage":
        return paint(image, ellipse(SIZE, centre=patient.spot, radii=(radius, radius * 0.8)), levels["blood"])
    image = paint(
        image, ellipse(SIZE, centre=patient.spot, radii=(radius * 1.3, radius * 1.2), softness=0.4), levels["oedema"]
    )
    return paint(image, ellipse(SIZE, centre=patient.spot, radii=(radius * 0.7, radius * 0.7)), levels["tumour"])

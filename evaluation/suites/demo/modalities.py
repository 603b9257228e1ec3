"""The two-dimensional modalities of the demo suite."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.suites.demo import abdomen, blood, bone, chest, retina, skin
from evaluation.suites.demo.canvas import Look
from evaluation.suites.demo.picture import Picture
from evaluation.vocabulary import Domain


@dataclass(frozen=True, slots=True)
class Modality:
    """One kind of phantom. `dataset` names its source in the suite; `organ` answers what part of the body is shown."""

    dataset: str
    title: str
    organ: str
    domain: Domain
    findings: tuple[str, ...]
    draw: Callable[[str, np.random.Generator, Look], Picture]

    @property
    def image_root(self) -> str:
        """Where the images lie below the suite's folder."""
        return f"2D_Images/{self.dataset}"


def _draw_radiograph(finding: str, rng: np.random.Generator, look: Look) -> Picture:
    return chest.draw_radiograph(chest.imagine_chest(finding, rng), rng, look)


RADIOGRAPH = Modality("DemoRadiograph", "chest radiograph", "chest", Domain.THORACIC, chest.FINDINGS, _draw_radiograph)
BONE = Modality("DemoBone", "forearm radiograph", "forearm", Domain.MUSCULOSKELETAL, bone.FINDINGS, bone.draw_bone)
ABDOMEN = Modality(
    "DemoAbdomen", "abdominal CT slice", "abdomen", Domain.ABDOMINAL, abdomen.FINDINGS, abdomen.draw_abdomen
)
DERMOSCOPY = Modality("DemoDermoscopy", "dermoscopy image", "skin", Domain.DERMATOLOGY, skin.FINDINGS, skin.draw_skin)
RETINA = Modality("DemoRetina", "fundus photograph", "eye", Domain.OPHTHALMOLOGY, retina.FINDINGS, retina.draw_retina)
BLOOD = Modality("DemoBlood", "blood smear", "blood", Domain.MICROSCOPY, blood.FINDINGS, blood.draw_blood)

MODALITIES = (RADIOGRAPH, BONE, ABDOMEN, DERMOSCOPY, RETINA, BLOOD)

"""Real weights on real data: what is of one kind lies closer together than what is of two kinds."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.embedders.lite_towers import FrozenTowers, load_pretrained_towers
from evaluation.types import FloatMatrix

pytestmark = pytest.mark.real_data

PICTURES = 8
DERMATOLOGY = (
    "A changing mole with an irregular border on the back",
    "Melanoma is a cancer of the skin's pigment cells",
    "Atopic eczema makes the skin itch and turn red",
)
CARDIOLOGY = (
    "The left ventricle pumps blood into the aorta",
    "Atrial fibrillation is an irregular heart rhythm",
    "Chest pain on exertion suggests narrowed coronary arteries",
)


@pytest.fixture(scope="module")
def towers() -> FrozenTowers:
    return load_pretrained_towers()


def margin(one: FloatMatrix, other: FloatMatrix) -> float:
    """The mean cosine of different rows of one kind, less that of rows of two kinds."""
    alike = [rows @ rows.T for rows in (one, other)]
    within = np.mean([pairs[~np.eye(len(pairs), dtype=bool)].mean() for pairs in alike])
    return float(within - (one @ other.T).mean())


def pictures(folder: Path) -> Sequence[Image.Image]:
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".png", ".jpeg"))
    assert len(paths) >= PICTURES
    return [Image.open(path).convert("RGB") for path in paths[:PICTURES]]


def test_efficientnet_tells_kinds_of_images_apart(towers: FrozenTowers, real_data: Path) -> None:
    kinds = ("fundus_idrid", "cxr_kermany", "histo_nct_crc", "isic2017")
    rows = [towers.image_features(pictures(real_data / "open" / kind)) for kind in kinds]
    for number, one in enumerate(rows):
        for other in rows[:number]:
            assert margin(one, other) > 0.1


def test_minilm_tells_subjects_of_texts_apart(towers: FrozenTowers) -> None:
    assert margin(towers.text_features(DERMATOLOGY), towers.text_features(CARDIOLOGY)) > 0.1

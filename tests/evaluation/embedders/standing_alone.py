"""Whether the vector of an image follows from that image alone, bit for bit."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from evaluation.decoding import decode
from evaluation.embedders.dual_encoder import DualEncoder
from evaluation.embedders.image_passes import IMAGES_A_PASS
from evaluation.embedders.protocol import Embedder
from evaluation.inputs import EmbeddingInput


def assert_images_stand_alone(embedder: Embedder, files: Sequence[Path]) -> None:
    """The first image has one vector at every place of a pass, beside other companions, and in a pass of its own."""
    assert isinstance(embedder, DualEncoder)
    first, *others = [Image.open(path).convert("RGB") for path in files]
    rows = set()
    for start in (0, 1):
        passed = [others[(place * (start + 1)) % len(others)] for place in range(IMAGES_A_PASS)]
        passed[start::2] = [first] * (IMAGES_A_PASS // 2)
        rows |= {row.tobytes() for row in embedder._towers.image_features(passed)[start::2]}
    alone = embedder.embed([decode(EmbeddingInput(images=(files[0],)))])
    assert {alone[0].tobytes()} == rows

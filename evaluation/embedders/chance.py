"""An embedder that knows nothing: its scores are what guessing scores."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluation.decoding import DecodedInput
from evaluation.embedders.encode_config import EncodeConfig, encode_config
from evaluation.embedders.kinds import require_kinds
from evaluation.embedders.safety.repository import read_object
from evaluation.errors import ModelInvalid
from evaluation.types import FloatMatrix, ModelDescription
from evaluation.vocabulary import EmbedderFamily, InputKind

_MAX_DIMENSION = 65_536


class ChanceEmbedder:
    """A random direction a content: the same for the same text, instruction and pixels, and independent of all else."""

    def __init__(self, *, dimension: int, seed: int) -> None:
        self._seed = seed
        self.description = ModelDescription(
            family=EmbedderFamily.CHANCE,
            architecture="medboard-chance",
            dimension=dimension,
            parameters=0,
            kinds=tuple(InputKind),
            encode_config=encode_config(EmbedderFamily.CHANCE).described(seed=seed),
        )

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        """One direction an input, uniform on the sphere after normalisation, shape (len(batch), dimension)."""
        require_kinds((decoded.source for decoded in batch), self.description)
        rows = np.empty((len(batch), self.description.dimension), dtype=np.float32)
        for row, decoded in zip(rows, batch, strict=True):
            generator = np.random.Generator(np.random.Philox(key=int.from_bytes(_digest(self._seed, decoded)[:16])))
            row[:] = generator.standard_normal(len(row))
        return rows

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Zeros: nothing is padded."""
        return [0] * len(batch)

    def cuts(self, texts: Sequence[str]) -> list[bool]:
        """Never: the whole content is hashed."""
        return [False] * len(texts)


def load_chance(folder: Path, *, device: str, config: EncodeConfig) -> ChanceEmbedder:
    """Read `{"model_type": "medboard-chance", "dimension": d, "seed": s}` from config.json.

    Raises:
        ModelInvalid: dimension or seed is missing or out of range.
    """
    document = read_object(folder / "config.json")
    dimension, seed = document.get("dimension"), document.get("seed")
    if type(dimension) is not int or not 1 <= dimension <= _MAX_DIMENSION:
        raise ModelInvalid(f"config.json: dimension must be a whole number from 1 to {_MAX_DIMENSION}.")
    if type(seed) is not int:
        raise ModelInvalid("config.json: seed must be a whole number.")
    return ChanceEmbedder(dimension=dimension, seed=seed)


def _digest(seed: int, decoded: DecodedInput) -> bytes:
    digest = hashlib.sha256()
    source = decoded.source
    parts = [str(seed), source.text, source.instruction, str(source.is_volume)]
    for part in parts:
        content = part.encode("utf-8", "surrogatepass")
        digest.update(len(content).to_bytes(8) + content)
    for image in decoded.images:
        digest.update(image.width.to_bytes(8) + image.height.to_bytes(8) + image.tobytes())
    return digest.digest()

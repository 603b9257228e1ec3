"""An embedder that sleeps, and whose rows tell which batch they went through.

Sleeping makes time pass without a processor. Rows that change with their batch make any dependence of a score on what
was embedded before, where or in which order, visible at once; real models show it in the last bits alone.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evaluation.decoding import DecodedInput
from evaluation.embedders.chance import ChanceEmbedder
from evaluation.types import FloatMatrix

TOKENS_A_TEXT = 1_024
DIMENSION = 16


class SleepingEmbedder(ChanceEmbedder):
    """Guesses, `seconds` a batch; four texts fill one."""

    def __init__(self, *, seed: int, seconds: float) -> None:
        super().__init__(dimension=DIMENSION, seed=seed)
        self._seconds = seconds

    def embed(self, batch: Sequence[DecodedInput]) -> FloatMatrix:
        time.sleep(self._seconds)
        together = hashlib.sha256("\n".join(decoded.source.text for decoded in batch).encode()).digest()
        shift = np.random.default_rng(list(together)).standard_normal((len(batch), DIMENSION)).astype(np.float32)
        return super().embed(batch) + shift

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        return [TOKENS_A_TEXT] * len(batch)


def write_sleeping(folder: Path, *, seed: int, seconds: float) -> None:
    """A repository of it; only children of these tests know the seconds."""
    folder.mkdir(parents=True)
    config = {"model_type": "medboard-chance", "dimension": DIMENSION, "seed": seed, "seconds": seconds}
    (folder / "config.json").write_text(json.dumps(config))


def read_sleeping(folder: Path) -> SleepingEmbedder:
    config = json.loads((folder / "config.json").read_text())
    return SleepingEmbedder(seed=config["seed"], seconds=config["seconds"])

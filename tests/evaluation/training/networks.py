"""A small network with dropout, and text alone, for tests of the trainer."""

from collections.abc import Sequence
from pathlib import Path

import torch

from evaluation.decoding import DecodedInput
from evaluation.embedders.protocol import Embedder
from evaluation.inputs import EmbeddingInput
from evaluation.training.loss import LossSettings
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import OrderSettings
from evaluation.training.trainable import Tensors

SETTINGS = TrainingSettings(
    steps=9,
    order=OrderSettings(pairs=8, sub_batch=0, seed=3),
    loss=LossSettings(temperature=0.1),
    learning_rate=0.05,
    warm_up=2,
    weight_decay=0.01,
    chunk_tokens=150,
)


class LetterCounts(torch.nn.Module):
    """Counts of letters through two layers. Each trained number can be told from its neighbours."""

    def __init__(self, *, dropout: float, seed: int = 1) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.first = torch.nn.Parameter(torch.randn(26, 12, generator=generator) * 0.4)
        self.second = torch.nn.Parameter(torch.randn(12, 6, generator=generator) * 0.4)
        self._dropout = torch.nn.Dropout(dropout)

    def forward(self, counts: torch.Tensor) -> torch.Tensor:
        hidden = self._dropout(torch.tanh(counts @ self.first))
        return torch.nn.functional.normalize(hidden @ self.second, dim=1)


class LetterTrainable:
    """Embeds a text by its letters; a text has as many tokens as letters."""

    dimension = 6

    def __init__(self, *, dropout: float = 0.0) -> None:
        self.network = LetterCounts(dropout=dropout)

    def read(self, item: EmbeddingInput) -> DecodedInput:
        return DecodedInput(item)

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        return [len(decoded.source.text) for decoded in batch]

    def tensors(self, batch: Sequence[DecodedInput]) -> Tensors:
        rows = [[decoded.source.text.count(chr(ord("a") + letter)) / 4 for letter in range(26)] for decoded in batch]
        return {"counts": torch.tensor(rows)}

    def vectors(self, tensors: Tensors) -> torch.Tensor:
        return self.network(tensors["counts"])

    def embedder(self) -> Embedder:
        raise NotImplementedError

    def save(self, folder: Path) -> None:
        raise NotImplementedError

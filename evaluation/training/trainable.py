"""What a model has to be for the trainer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import torch

from evaluation.decoding import DecodedInput
from evaluation.embedders.protocol import Embedder
from evaluation.inputs import EmbeddingInput

Tensors = Mapping[str, torch.Tensor]


class TrainableEncoder(Protocol):
    """A model that embeds with gradients. What is trained are the parameters of `network` that ask for gradients."""

    @property
    def network(self) -> torch.nn.Module:
        """Holds every parameter; its mode (training or not) decides on dropout."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def read(self, item: EmbeddingInput) -> DecodedInput:
        """An input with as much of its files as the network is given; safe to call in many threads at once."""
        ...

    def token_counts(self, batch: Sequence[DecodedInput]) -> list[int]:
        """Text and visual tokens of each input as the network sees them; at least 1."""
        ...

    def tensors(self, batch: Sequence[DecodedInput]) -> Tensors:
        """What `vectors` needs of these inputs, on the CPU; safe to call in a thread beside `vectors`."""
        ...

    def vectors(self, tensors: Tensors) -> torch.Tensor:
        """Unit rows in float32, (inputs, dimension), with gradients; `tensors` are on the network's device."""
        ...

    def embedder(self) -> Embedder:
        """The model as it is now, for evaluation; it is valid until the next step."""
        ...

    def save(self, folder: Path) -> None:
        """Write the trained repository's files, but for its card, into an empty folder."""
        ...


def trained_parameters(encoder: TrainableEncoder) -> dict[str, torch.nn.Parameter]:
    """The parameters that are trained, by name."""
    return {name: parameter for name, parameter in encoder.network.named_parameters() if parameter.requires_grad}

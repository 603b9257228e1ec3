"""Everything that decides which weights a training ends with, but for the model and the data."""

from dataclasses import dataclass, field

from evaluation.training.loss import LossSettings
from evaluation.training.sources import OrderSettings


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """Settings of the loop.

    Attributes:
        steps: of the optimizer.
        order: of the records.
        loss: what is compared.
        learning_rate: the highest.
        warm_up: steps until it is reached.
        weight_decay: of AdamW, on what is trained.
        max_gradient_norm: longer gradients are cut to this length.
        chunk_tokens: the most padded tokens that go through the network at once.
        kept_tokens: padded tokens whose states are kept for the backward pass; chunks beyond are embedded twice.
    """

    steps: int
    order: OrderSettings = field(default_factory=OrderSettings)
    loss: LossSettings = field(default_factory=LossSettings)
    learning_rate: float = 1e-4
    warm_up: int = 0
    weight_decay: float = 0.0
    max_gradient_norm: float = 1.0
    chunk_tokens: int = 4_096
    kept_tokens: int = 0

"""The training loop, one for every model: batches, loss, gradients, steps, checkpoints.

A step is a function of the settings, the data and the step's number: the order of records and dropout come from the
seed. So a training that was killed goes on from its newest checkpoint to the same weights.
"""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from evaluation.embedders.determinism import require_determinism
from evaluation.errors import TrainingDiverged, TrainingRefused
from evaluation.manifest import canonical_sha256
from evaluation.training.checkpoints import Checkpoint, newest_checkpoint, write_checkpoint
from evaluation.training.equivalence import EquivalenceKeys, equivalent
from evaluation.training.gradient_cache import Chunk, cached_forward
from evaluation.training.loss import BatchLoss, contrastive_loss
from evaluation.training.preparation import Preparation, PreparedBatch
from evaluation.training.processes import Processes
from evaluation.training.schedule import Schedule
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import Position, TrainingData, require_sources
from evaluation.training.trainable import Tensors, TrainableEncoder, trained_parameters


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did; sums are over all processes.

    `waste` is the share of padding among all tokens that went through the network; `seconds` of this step.
    """

    step: int
    epoch: int
    loss: float
    temperature: float
    masked: float
    hardest: float
    learning_rate: float
    gradient_norm: float
    records: int
    tokens: int
    waste: float
    seconds: float


def _nobody(_report: StepReport) -> None:
    """Is told nothing."""


def _nothing(_step: int) -> None:
    """Is done in a pause."""


@dataclass(frozen=True, slots=True)
class Reporting:
    """What is done beside training.

    Attributes:
        on_step: called after each step in the first process.
        on_pause: called in all processes before the first step, every `pause_every` steps (0: never) and after the last,
            with the number of steps done, while the network is in evaluation mode.
        pause_every: steps.
        checkpoints: where they lie; None keeps none.
        checkpoint_every: steps between two; one is written after the last too.
    """

    on_step: Callable[[StepReport], None] = _nobody
    on_pause: Callable[[int], None] = _nothing
    pause_every: int = 0
    checkpoints: Path | None = None
    checkpoint_every: int = 0


def training_sha256(settings: TrainingSettings, data: TrainingData, *, model: str) -> str:
    """64 hexadecimal digits over all that decides which weights come out; `model` names the start and what is trained."""
    return canonical_sha256({"settings": asdict(settings), "data": data.sha256, "model": model})


def train(
    encoder: TrainableEncoder,
    data: TrainingData,
    *,
    settings: TrainingSettings,
    processes: Processes,
    reporting: Reporting,
    identity: str = "",
) -> None:
    """Train in place, from the newest checkpoint where there is one.

    Torch takes deterministic forms from here on, so that a training that goes on in another process ends with the same
    bits, whatever either did before.

    Args:
        encoder: on the device of `processes`.
        data: the records.
        settings: of this training.
        processes: all that train together.
        reporting: what is done beside.
        identity: the training's sha256, which a checkpoint must have.

    Raises:
        TrainingRefused: settings do not fit the data.
        CheckpointInvalid: the newest checkpoint is damaged or of another training.
        TrainingDiverged: a loss or gradient is not finite.
        InputUnreadable: an image cannot be read; the message names it.
    """
    require_sources(data, settings.order)
    require_determinism(strictly=False)
    state = _State(encoder, settings, processes)
    position = state.resume(reporting.checkpoints, identity) if reporting.checkpoints else Position()
    if not state.step and reporting.pause_every:
        encoder.network.eval()
        reporting.on_pause(0)
    started = time.perf_counter()
    to_do = settings.steps - state.step
    preparation = Preparation(encoder, data, settings, processes)
    for prepared in preparation.batches_ahead(position, to_do):
        report = state.take(prepared, started)
        started = time.perf_counter()
        if processes.is_first:
            reporting.on_step(report)
        if reporting.checkpoints and _due(state.step, reporting.checkpoint_every, settings.steps):
            if processes.is_first:
                following = Position(prepared.place.epoch, prepared.place.batch + 1)
                write_checkpoint(reporting.checkpoints, state.checkpoint(following), training_sha256=identity)
            processes.wait()
        if _due(state.step, reporting.pause_every, settings.steps):
            encoder.network.eval()
            reporting.on_pause(state.step)
            started = time.perf_counter()
    encoder.network.eval()


def _due(step: int, every: int, last: int) -> bool:
    return every > 0 and (step % every == 0 or step == last)


class _State:
    """The parameters and the optimizer between two steps."""

    def __init__(self, encoder: TrainableEncoder, settings: TrainingSettings, processes: Processes) -> None:
        self.step = 0
        self._encoder = encoder
        self._settings = settings
        self._processes = processes
        self._schedule = Schedule(settings.learning_rate, settings.steps, settings.warm_up)
        self._parameters = trained_parameters(encoder)
        if not self._parameters:
            raise TrainingRefused("No parameter of the model asks for training; name the modules to adapt.")
        self._optimizer = torch.optim.AdamW(
            self._parameters.values(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )

    def resume(self, folder: Path, identity: str) -> Position:
        found = newest_checkpoint(folder, training_sha256=identity)
        if found is None:
            return Position()
        with torch.no_grad():
            for name, parameter in self._parameters.items():
                parameter.copy_(found.weights[name])
        self._optimizer.load_state_dict(dict(found.optimizer))
        self.step = found.step
        return found.position

    def checkpoint(self, following: Position) -> Checkpoint:
        return Checkpoint(self.step, following, self._parameters, self._optimizer.state_dict())

    def take(self, prepared: PreparedBatch, started: float) -> StepReport:
        """One step of the optimizer."""
        self._encoder.network.train()
        rate = self._schedule.rate(self.step)
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._backward(prepared)
        self._processes.sum_gradients(self._parameters.values())
        norm = float(torch.nn.utils.clip_grad_norm_(self._parameters.values(), self._settings.max_gradient_norm))
        value = float(loss.value.detach())
        if not (math.isfinite(value) and math.isfinite(norm)):
            raise TrainingDiverged(
                f"Step {self.step}: the loss is {value} and its gradient's length {norm}; lower the learning rate, "
                "raise the temperature, or use bfloat16 instead of float16."
            )
        self._optimizer.step()
        records, tokens, padded = self._processes.totals([prepared.records, prepared.tokens, prepared.padded])
        self.step += 1
        return StepReport(
            step=self.step,
            epoch=prepared.place.epoch,
            loss=value,
            temperature=self._settings.loss.temperature,
            masked=loss.masked,
            hardest=loss.hardest,
            learning_rate=rate,
            gradient_norm=norm,
            records=int(records),
            tokens=int(tokens),
            waste=1 - tokens / padded if padded else 0.0,
            seconds=time.perf_counter() - started,
        )

    def _backward(self, prepared: PreparedBatch) -> BatchLoss:
        """Leave the gradients of the whole batch's loss, as far as they go through this process's inputs."""
        device = self._processes.device
        inputs = 2 * prepared.records + prepared.negatives
        forward = cached_forward(
            self._encoder.vectors,
            [Chunk(chunk.positions, _moved(chunk.tensors, device), chunk.padded_tokens) for chunk in prepared.chunks],
            shape=(inputs, self._encoder.dimension),
            device=device,
            seed=(self._settings.order.seed * 1_000_003 + self.step) * self._processes.count + self._processes.number,
            kept_tokens=self._settings.kept_tokens,
        )
        parts = torch.split_with_sizes(forward.vectors, [prepared.records, prepared.records, prepared.negatives])
        whole = [self._processes.gathered(part) for part in parts]
        queries, positives, negatives = (rows.detach().requires_grad_() for rows, _ in whole)
        keys, _ = self._processes.gathered(prepared.keys.rows.to(device))
        of_negatives, _ = self._processes.gathered(prepared.keys.negatives.to(device))
        same = equivalent(EquivalenceKeys.from_rows(keys, of_negatives))
        loss = contrastive_loss(queries, torch.cat([positives, negatives]), same, self._settings.loss)
        gradients = torch.autograd.grad(loss.value, [queries, positives, negatives])
        own = [gradient[place] for gradient, (_, place) in zip(gradients, whole, strict=True)]
        forward.backward(torch.cat(own))
        return loss


def _moved(tensors: Tensors, device: torch.device) -> dict[str, torch.Tensor]:
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}

"""The training loop, one for every model: batches, loss, gradients, steps, checkpoints.

A step is a function of the settings, the data and the step's number: the order of records and dropout come from the
seed. So a training that was killed goes on from its newest checkpoint to the same weights.
"""

import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from evaluation.embedding.decoding_ahead import decode_named
from evaluation.errors import TrainingDiverged, TrainingRefused
from evaluation.manifest import canonical_sha256
from evaluation.training.batching import deal, pack_sequences
from evaluation.training.checkpoints import Checkpoint, newest_checkpoint, write_checkpoint
from evaluation.training.equivalence import EquivalenceKeys, equivalence_keys, equivalent
from evaluation.training.gradient_cache import Chunk, cached_forward
from evaluation.training.loss import BatchLoss, LossSettings, contrastive_loss
from evaluation.training.processes import Processes
from evaluation.training.schedule import Schedule
from evaluation.training.sources import OrderSettings, Position, Positions, TrainingData, batches, require_sources
from evaluation.training.trainable import TrainableEncoder, trained_parameters


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """Everything that decides which weights come out, but for the model and the data.

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


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one step did; sums are over all processes.

    `waste` is the share of padding among all tokens that went through the network; `seconds` of this step.
    """

    step: int
    epoch: int
    loss: float
    masked: float
    hardest: float
    learning_rate: float
    gradient_norm: float
    records: int
    tokens: int
    waste: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Reporting:
    """What is done beside training: `on_step` after each step in the first process; `on_pause` in all processes every
    `pause_every` steps (0: never) and after the last, with the number of steps done, while the network is in evaluation
    mode; a checkpoint below `checkpoints` every `checkpoint_every` steps (0: never)."""

    on_step: Callable[[StepReport], None] = lambda _report: None
    on_pause: Callable[[int], None] = lambda _step: None
    pause_every: int = 0
    checkpoints: Path | None = None
    checkpoint_every: int = 0


@dataclass(frozen=True, slots=True)
class _Prepared:
    """This process's share of one batch, read, decoded and packed."""

    place: Position
    records: int
    negatives: int
    keys: EquivalenceKeys
    chunks: tuple[Chunk, ...]
    tokens: int
    padded: int


def training_sha256(settings: TrainingSettings, data: TrainingData, *, model: str) -> str:
    """64 hexadecimal digits over all that decides which weights come out; `model` names the start and what is trained."""
    order = {**asdict(settings.order), "weights": dict(settings.order.weights)}
    return canonical_sha256({"settings": {**asdict(settings), "order": order}, "data": data.sha256, "model": model})


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
    state = _State(encoder, settings, processes)
    position = state.resume(reporting.checkpoints, identity) if reporting.checkpoints else Position()
    started = time.perf_counter()
    to_do = settings.steps - state.step
    for prepared in _ahead(encoder, data, settings, processes, position, to_do):
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

    def take(self, prepared: _Prepared, started: float) -> StepReport:
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
            masked=loss.masked,
            hardest=loss.hardest,
            learning_rate=rate,
            gradient_norm=norm,
            records=int(records),
            tokens=int(tokens),
            waste=1 - tokens / padded if padded else 0.0,
            seconds=time.perf_counter() - started,
        )

    def _backward(self, prepared: _Prepared) -> BatchLoss:
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
        parts = forward.vectors.split([prepared.records, prepared.records, prepared.negatives])
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


def _moved(tensors: Any, device: torch.device) -> dict[str, torch.Tensor]:
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}


def _ahead(
    encoder: TrainableEncoder,
    data: TrainingData,
    settings: TrainingSettings,
    processes: Processes,
    start: Position,
    count: int,
) -> Iterator[_Prepared]:
    """The next `count` batches, each read and packed in a thread while the one before is trained on."""
    coming = islice(batches(data, settings.order, start), count)
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting: Future[_Prepared] | None = None
        for place, members in coming:
            following = pool.submit(_prepare, encoder, data, settings, processes, place, members)
            if waiting is not None:
                yield waiting.result()
            waiting = following
        if waiting is not None:
            yield waiting.result()


def _prepare(
    encoder: TrainableEncoder,
    data: TrainingData,
    settings: TrainingSettings,
    processes: Processes,
    place: Position,
    members: Positions,
) -> _Prepared:
    own = deal(members, data.estimates[members], processes=processes.count, process=processes.number)
    records = data.read(own)
    inputs = [
        *(record.query for record in records),
        *(record.positive for record in records),
        *(negative for record in records for negative in record.negatives),
    ]
    decoded = [decode_named(item) for item in inputs]
    packing = pack_sequences(encoder.token_counts(decoded), budget=settings.chunk_tokens) if decoded else None
    chunks = tuple(
        Chunk(torch.tensor(chunk), encoder.tensors([decoded[position] for position in chunk]), padded)
        for chunk, padded in (zip(packing.chunks, packing.padded, strict=True) if packing else ())
    )
    return _Prepared(
        place=place,
        records=len(records),
        negatives=len(inputs) - 2 * len(records),
        keys=equivalence_keys(records),
        chunks=chunks,
        tokens=sum(packing.tokens) if packing else 0,
        padded=sum(packing.padded) if packing else 0,
    )

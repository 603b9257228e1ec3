"""The recipe of MedEmb: an adapter on a vision-language embedding model, trained, scored and written for a hub."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from accelerate import Accelerator

from evaluation.embedders.encode_config import encode_config
from evaluation.embedders.registry import ADAPTABLE_FAMILIES, check_folder_safety, detect_family
from evaluation.errors import TrainingRefused
from evaluation.manifest import canonical_sha256
from evaluation.suites.building import staged
from evaluation.training.adapters import AdapterSettings
from evaluation.training.dev_suite import DevScores, DevSuite
from evaluation.training.loop import Reporting, StepReport, train, training_sha256
from evaluation.training.model_card import adapter_card
from evaluation.training.processes import Processes
from evaluation.training.qwen_trainable import QwenTrainable
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import TrainingData

CHECKPOINTS = "checkpoints"


@dataclass(frozen=True, slots=True)
class MedEmbSettings:
    """What is trained on what, but for the data.

    Attributes:
        base: folder of the base model.
        base_name: its id on the hub.
        adapter: what is added to it.
        training: of the loop.
        encode_config: name of the config that inputs are read with; "" is the family's first.
        gradient_checkpointing: compute states again in the backward pass instead of keeping them.
    """

    base: Path
    base_name: str
    training: TrainingSettings
    adapter: AdapterSettings = field(default_factory=AdapterSettings)
    encode_config: str = ""
    gradient_checkpointing: bool = True


class Listener(Protocol):
    """Who is told, in the first process alone."""

    def step(self, report: StepReport) -> None:
        """A step was done."""
        ...

    def scores(self, step: int, scores: DevScores) -> None:
        """The dev suite was scored after so many steps."""
        ...


def work_folder(out: Path) -> Path:
    """Where checkpoints and logs of a training lie while it runs: beside what it will write."""
    return out.with_name(f"{out.name}.training")


def train_medemb(
    suite: Path,
    out: Path,
    *,
    settings: MedEmbSettings,
    accelerator: Accelerator,
    listeners: Sequence[Listener],
    dev: DevSuite | None = None,
    dev_every: int = 0,
    checkpoint_every: int = 0,
) -> DevScores | None:
    """Train an adapter on a folder's `Train_Data` and write it to `out`; goes on from a checkpoint where there is one.

    Args:
        suite: folder of the training data.
        out: must not exist or be empty.
        settings: what is trained.
        accelerator: the processes and their devices.
        listeners: told of steps and scores.
        dev: scored before the first step, every `dev_every` steps and after the last.
        dev_every: 0 scores at the end alone.
        checkpoint_every: steps; 0 keeps none, so that a training that is killed begins anew.

    Returns the last scores in the first process; None elsewhere and without `dev`.

    Raises:
        TrainingRefused: settings, base or `out` do not allow it.
        CheckpointInvalid: what lies beside `out` is of another training.
        DataMissing, RecordInvalid, InputUnreadable: of the data.
        TrainingDiverged: a loss is not finite.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TrainingRefused(f"{out} already holds files; name a new folder or remove it first.")
    processes = Processes(accelerator)
    encoder = _encoder(settings, processes)
    data = TrainingData(suite)
    scores: list[DevScores] = []

    def score(step: int) -> None:
        if dev is not None and processes.is_first:
            scores.append(dev.scores(encoder.embedder()))
            for listener in listeners:
                listener.scores(step, scores[-1])
        processes.wait()

    def tell(report: StepReport) -> None:
        for listener in listeners:
            listener.step(report)

    checkpoints = work_folder(out) / CHECKPOINTS
    reporting = Reporting(
        on_step=tell,
        on_pause=score,
        pause_every=(dev_every or settings.training.steps) if dev else 0,
        checkpoints=checkpoints if checkpoint_every else None,
        checkpoint_every=checkpoint_every,
    )
    identity = training_sha256(settings.training, data, model=_identity(settings, processes))
    train(encoder, data, settings=settings.training, processes=processes, reporting=reporting, identity=identity)
    last = scores[-1] if scores else None
    if processes.is_first:
        with staged(out) as folder:
            _write(folder, encoder, settings, data, dev=dev, scores=last)
        shutil.rmtree(checkpoints, ignore_errors=True)
    processes.wait()
    return last


def _encoder(settings: MedEmbSettings, processes: Processes) -> QwenTrainable:
    check_folder_safety(settings.base)
    family = detect_family(settings.base)
    if family not in ADAPTABLE_FAMILIES:
        known = ", ".join(sorted(ADAPTABLE_FAMILIES))
        raise TrainingRefused(f"{settings.base} is of the family {family}; adapters are trained on {known}.")
    return QwenTrainable(
        settings.base,
        base_name=settings.base_name,
        adapter=settings.adapter,
        config=encode_config(family, settings.encode_config),
        device=str(processes.device),
        seed=settings.training.order.seed,
        gradient_checkpointing=settings.gradient_checkpointing,
    )


def _identity(settings: MedEmbSettings, processes: Processes) -> str:
    """Names the start and what is trained. The base is known by its name and its files' sizes: hashing takes minutes."""
    sizes = {path.name: path.stat().st_size for path in sorted(settings.base.glob("*.safetensors"))}
    return canonical_sha256(
        {
            "base": settings.base_name,
            "base_files": sizes,
            "adapter": settings.adapter.described(),
            "encode_config": settings.encode_config,
            "processes": processes.count,
        }
    )


def _write(
    folder: Path,
    encoder: QwenTrainable,
    settings: MedEmbSettings,
    data: TrainingData,
    *,
    dev: DevSuite | None,
    scores: DevScores | None,
) -> None:
    encoder.save(folder)
    config = encoder.embedder().description.encode_config
    (folder / "encode_config.json").write_text(
        json.dumps(dict(config), indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )
    card = adapter_card(
        base=settings.base_name,
        sources=data.counts(),
        data_sha256=data.sha256,
        settings=_flat({"adapter": settings.adapter.described(), "training": _training(settings.training)}),
        encode_config=config,
        scores={} if scores is None else {"overall": scores.overall, **scores.families},
        dev_suite="" if dev is None else f"{dev.spec.title} {dev.spec.version}",
    )
    (folder / "README.md").write_text(card, encoding="utf-8")


def _training(settings: TrainingSettings) -> dict[str, Any]:
    return asdict(settings)


def _flat(values: Mapping[str, Any], front: str = "") -> dict[str, Any]:
    """Nested mappings as one, with dots between the names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{front}{name}.") if isinstance(value, Mapping) else {f"{front}{name}": value}
    return flat

"""The recipe of lite-dual: two projections on frozen towers, trained on a suite's train split in minutes on two cores."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from accelerate import Accelerator

from evaluation.embedders.lite_towers import load_pretrained_towers
from evaluation.suites.building import staged
from evaluation.suites.medheb.reader import read_suite
from evaluation.training.adapters import AdapterSettings
from evaluation.training.features import feature_table
from evaluation.training.lite_network import ridge_projections
from evaluation.training.lite_trainable import TEXT_TOWER_MODULES, LiteTrainable
from evaluation.training.loop import Reporting, StepReport, train
from evaluation.training.loss import LossSettings
from evaluation.training.model_card import lite_dual_card
from evaluation.training.processes import Processes
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import OrderSettings, TrainingData
from evaluation.types import SuiteSpec

STEPS = 600
IMAGE_DROPOUT = 0.3
TEMPERATURE = 0.05
_ALL = 2**31  # features are small: a whole batch goes through at once and is kept


@dataclass(frozen=True, slots=True)
class LiteSettings:
    """What may be chosen; `text_adapter` asks for adapters on the text tower, which takes a few times as long."""

    steps: int = STEPS
    seed: int = 42
    text_adapter: bool = False


@dataclass(frozen=True, slots=True)
class TrainingOutcome:
    """What was trained: the losses of the first and last tenth of the steps (means), and the records of each source."""

    first_loss: float
    last_loss: float
    records: dict[str, int]


@dataclass(slots=True)
class _Losses:
    """Remembers the loss of each step on its way to whoever else is told."""

    told: Reporting
    values: list[float] = field(default_factory=list)

    def add(self, report: StepReport) -> None:
        self.values.append(report.loss)
        self.told.on_step(report)

    def mean(self, part: slice) -> float:
        return float(np.mean(self.values[part]))


def training_settings(data: TrainingData, settings: LiteSettings) -> TrainingSettings:
    """Batches of four kinds with 64 records each; sources are seen in proportion to the root of their size."""
    counts = data.counts()
    roots = {name: count**0.5 for name, count in counts.items() if count}
    share = len(data) / sum(roots.values())
    return TrainingSettings(
        steps=settings.steps,
        order=OrderSettings(
            pairs=256,
            sub_batch=64,
            weights={name: share * root / counts[name] for name, root in roots.items()},
            seed=settings.seed,
        ),
        loss=LossSettings(temperature=TEMPERATURE, symmetric=True),
        learning_rate=1e-3,
        weight_decay=0.1,
        chunk_tokens=4_096 if settings.text_adapter else _ALL,
        kept_tokens=_ALL,
    )


def lite_trainable(data: TrainingData, settings: LiteSettings, facts: Mapping[str, Any]) -> LiteTrainable:
    """The model before its first step, with the features of all records.

    Raises:
        ModelInvalid: the towers' packages are missing.
        InputUnreadable: an image cannot be read.
    """
    records = data.read(range(len(data)))
    towers = load_pretrained_towers()
    table = feature_table(records, towers)
    projections = ridge_projections(table, records, dropout=IMAGE_DROPOUT)
    adapter = (
        AdapterSettings(rank=8, alpha=16, dropout=0.0, modules=TEXT_TOWER_MODULES) if settings.text_adapter else None
    )
    return LiteTrainable(towers, table, projections, facts=facts, text_adapter=adapter, seed=settings.seed)


def train_lite_dual(
    suite: Path, out: Path, *, seed: int = 42, settings: LiteSettings | None = None, reporting: Reporting | None = None
) -> TrainingOutcome:
    """Train on the suite's train split and write a lite-dual model folder with a model card to `out`.

    Args:
        suite: a suite's folder.
        out: must not exist or be empty.
        seed: the same seed and suite give the same model.
        settings: other than the defaults; its seed is replaced by `seed`.
        reporting: what is done beside.

    Raises:
        SuiteInvalid: `out` holds files, or `suite` is none.
        DataMissing: the suite has no training records, or an image is not there.
        RecordInvalid: a training record cannot be read.
    """
    chosen = replace(settings or LiteSettings(), seed=seed)
    with staged(out) as folder:
        spec, data = read_suite(suite), TrainingData(suite)
        encoder = lite_trainable(data, chosen, _facts(spec, data, chosen))
        losses = _Losses(reporting or Reporting())
        train(
            encoder,
            data,
            settings=training_settings(data, chosen),
            processes=Processes(Accelerator(cpu=True)),
            reporting=replace(losses.told, on_step=losses.add),
        )
        encoder.save(folder)
        card = lite_dual_card(spec, data.counts(), seed=seed, steps=chosen.steps)
        (folder / "README.md").write_text(card, encoding="utf-8")
    tenth = max(len(losses.values) // 10, 1)
    return TrainingOutcome(losses.mean(slice(tenth)), losses.mean(slice(-tenth, None)), data.counts())


def _facts(spec: SuiteSpec, data: TrainingData, settings: LiteSettings) -> dict[str, Any]:
    return {
        "suite": spec.slug,
        "suite_version": spec.version,
        "seed": settings.seed,
        "steps": settings.steps,
        "records": len(data),
        "text_adapter": settings.text_adapter,
    }

"""What training and masking of false negatives are worth: lite-dual trained with and without, on one suite.

The models are scored on the suite's tasks, whose patients are in no training record: the one before it saw a pair (a
drawn image map, the text tower as it is), and those trained with masking and without, each with the batches and the loss
of lite-dual's recipe and with those of MedEmb's. The latter has larger batches, which hold more false negatives, and a
lower temperature, at which the nearest negatives make up more of the gradient, and false ones are near. Everything else
is the same. Each is trained with several seeds, because one training differs from the next.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

import numpy as np
import torch
from accelerate import Accelerator

from evaluation.embedders.lite_towers import load_pretrained_towers
from evaluation.errors import DataMissing
from evaluation.statistics.intervals import Difference
from evaluation.suites.medheb.repeated_trainings import RepeatedDifference, compare_trainings
from evaluation.training.dev_suite import DevScores, DevSuite
from evaluation.training.equivalence import equivalence_keys, equivalent
from evaluation.training.features import FeatureTable, feature_table
from evaluation.training.lite_dual import IMAGE_DROPOUT, TEMPERATURE, LiteSettings, training_settings
from evaluation.training.lite_network import Projections, random_projections, ridge_projections
from evaluation.training.lite_trainable import LiteTrainable
from evaluation.training.loop import Reporting, StepReport, train
from evaluation.training.loss import LossSettings, equivalent_pairs_loss
from evaluation.training.processes import Processes
from evaluation.training.records import TrainingRecord
from evaluation.training.remembered import KnownFeatures
from evaluation.training.settings import TrainingSettings
from evaluation.training.sources import OrderSettings, TrainingData, epoch_batches
from evaluation.types import RankOutcomes

MEDEMB_PAIRS, MEDEMB_SUB_BATCH, MEDEMB_LOSS = 1_024, 64, LossSettings()
"""What `train medemb` takes if nothing else is asked for."""


class Recipe(StrEnum):
    """Whose batches and loss; nothing is trained of a model before training."""

    NONE = "untrained"
    LITE_DUAL = "lite-dual's recipe"
    MEDEMB = "MedEmb's recipe"


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to train."""

    recipe: Recipe
    mask_equivalent: bool

    @property
    def name(self) -> str:
        """As a table shows it."""
        if self == UNTRAINED:
            return str(self.recipe)
        return f"{self.recipe}, masking {'on' if self.mask_equivalent else 'off'}"


UNTRAINED = Variant(Recipe.NONE, mask_equivalent=True)
TRAINED = tuple(
    Variant(recipe, mask_equivalent=mask_equivalent)
    for recipe in (Recipe.LITE_DUAL, Recipe.MEDEMB)
    for mask_equivalent in (True, False)
)


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One variant, its loss on equivalent pairs of training records and its overall Hit@1, both means over the seeds.

    `lift` is Hit@1 minus the untrained model's, `unmasked` minus that of training of the same recipe with masking,
    both paired over the same queries and averaged over the seeds. They are None for what is compared with.
    """

    variant: Variant
    equivalent_loss: float
    hit_at_1: float
    lift: Difference | None
    unmasked: RepeatedDifference | None


OnStep = Callable[[int, StepReport], None]


def run_ablation(suite: Path, *, steps: int, seeds: Sequence[int], on_step: OnStep) -> list[AblationRow]:
    """Train every variant with each seed, and score all and the untrained model.

    Args:
        suite: a suite with training records and tasks.
        steps: of each training.
        seeds: at least one.
        on_step: called with how many trainings are done and each step's report.

    Raises:
        EvaluationError: see `train_lite_dual` and `DevSuite`.
    """
    bench = _Bench(suite)
    variants = (UNTRAINED, *TRAINED)
    losses: dict[Variant, list[float]] = {variant: [] for variant in variants}
    scores: dict[Variant, list[DevScores]] = {variant: [] for variant in variants}
    done = 0
    for seed in seeds:
        for variant in variants:
            loss, found = bench.trained(variant, steps=steps, seed=seed, on_step=partial(on_step, done))
            losses[variant].append(loss)
            scores[variant].append(found)
            done += variant != UNTRAINED
    return [_row(bench.dev, variant, losses, scores) for variant in variants]


class _Bench:
    """What all trainings share: the records, the tasks, and the features of both."""

    def __init__(self, suite: Path) -> None:
        self.dev = DevSuite(suite)
        self._data = TrainingData(suite)
        self._towers = load_pretrained_towers()
        self._records = self._data.read(range(len(self._data)))
        self._table = feature_table(self._records, self._towers)
        self._known = KnownFeatures()

    def trained(
        self, variant: Variant, *, steps: int, seed: int, on_step: Callable[[StepReport], None]
    ) -> tuple[float, DevScores]:
        """The loss on equivalent pairs and the scores of a variant trained with one seed."""
        maps = _start(variant, self._table, self._records, seed)
        encoder = LiteTrainable(self._towers, self._table, maps, facts={}, known=self._known)
        settings = training_settings(self._data, LiteSettings(steps=steps, seed=seed))
        if variant != UNTRAINED:
            train(
                encoder,
                self._data,
                settings=_settings(variant, settings),
                processes=Processes(Accelerator(cpu=True)),
                reporting=Reporting(on_step=on_step),
            )
        return _equivalent_loss(encoder, self._data, settings.order), self.dev.scores(encoder.embedder())


def _settings(variant: Variant, lite_dual: TrainingSettings) -> TrainingSettings:
    order, loss = lite_dual.order, lite_dual.loss
    if variant.recipe is Recipe.MEDEMB:
        order, loss = replace(order, pairs=MEDEMB_PAIRS, sub_batch=MEDEMB_SUB_BATCH), MEDEMB_LOSS
    return replace(lite_dual, order=order, loss=replace(loss, mask_equivalent=variant.mask_equivalent))


def _start(variant: Variant, table: FeatureTable, records: list[TrainingRecord], seed: int) -> Projections:
    if variant == UNTRAINED:
        return random_projections(table, dropout=IMAGE_DROPOUT, seed=seed)
    return ridge_projections(table, records, dropout=IMAGE_DROPOUT)


@torch.inference_mode()
def _equivalent_loss(encoder: LiteTrainable, data: TrainingData, order: OrderSettings) -> float:
    """The mean over the batches of the first epoch that hold equivalent pairs, at one temperature for all variants."""
    encoder.network.eval()
    values = []
    for members in epoch_batches(data, order, 0):
        records = data.read(members)
        same = equivalent(equivalence_keys(records))
        if same.any():
            queries, positives = (
                encoder.vectors(encoder.tensors([encoder.read(item) for item in side]))
                for side in ([record.query for record in records], [record.positive for record in records])
            )
            value = equivalent_pairs_loss(queries, positives, same[:, : len(records)], temperature=TEMPERATURE)
            values.append(float(value))
    if not values:
        raise DataMissing("No two training records are equivalent, so masking changes nothing; train on labelled data.")
    return sum(values) / len(values)


def _row(
    dev: DevSuite, variant: Variant, losses: Mapping[Variant, list[float]], scores: Mapping[Variant, list[DevScores]]
) -> AblationRow:
    def outcomes(of: Variant) -> list[Mapping[str, RankOutcomes]]:
        return [found.outcomes for found in scores[of]]

    lift, unmasked = None, None
    if variant != UNTRAINED:
        lift = compare_trainings(dev.spec, outcomes(variant), outcomes(UNTRAINED)).difference
        if not variant.mask_equivalent:
            unmasked = compare_trainings(dev.spec, outcomes(variant), outcomes(replace(variant, mask_equivalent=True)))
    return AblationRow(
        variant,
        equivalent_loss=float(np.mean(losses[variant])),
        hit_at_1=float(np.mean([found.overall for found in scores[variant]])),
        lift=lift,
        unmasked=unmasked,
    )

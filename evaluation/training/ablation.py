"""What training and masking of false negatives are worth: lite-dual trained with and without, on one suite.

Three models are scored on the suite's tasks, whose patients are in no training record: the model before it saw a pair
(a drawn image map, the text tower as it is), trained with masking, and trained without. Everything else is the same.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
from accelerate import Accelerator

from evaluation.embedders.lite_towers import load_pretrained_towers
from evaluation.errors import DataMissing
from evaluation.statistics.intervals import Difference
from evaluation.suites.medheb.comparison import compare_models
from evaluation.training.dev_suite import DevScores, DevSuite
from evaluation.training.equivalence import equivalence_keys, equivalent
from evaluation.training.features import FeatureTable, feature_table
from evaluation.training.lite_dual import IMAGE_DROPOUT, LiteSettings, training_settings
from evaluation.training.lite_network import Projections, random_projections, ridge_projections
from evaluation.training.lite_trainable import LiteTrainable
from evaluation.training.loop import Reporting, StepReport, train
from evaluation.training.loss import LossSettings, equivalent_pairs_loss
from evaluation.training.processes import Processes
from evaluation.training.records import TrainingRecord
from evaluation.training.remembered import KnownImages
from evaluation.training.sources import OrderSettings, TrainingData, epoch_batches

UNTRAINED, MASKED, UNMASKED = "untrained", "masking on", "masking off"


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One model: its loss on equivalent pairs of training records (mean over an epoch's batches), and its scores.

    `lift` is the overall Hit@1 minus the untrained model's, `against_masked` minus that of training with masking, both
    paired over the same queries; None for the model itself.
    """

    name: str
    equivalent_loss: float
    scores: DevScores
    lift: Difference | None
    against_masked: Difference | None


OnStep = Callable[[str, StepReport], None]


def run_ablation(suite: Path, *, settings: LiteSettings, on_step: OnStep) -> list[AblationRow]:
    """Train with masking and without, and score both and the untrained model.

    Args:
        suite: a suite with training records and tasks.
        settings: of both trainings; their masking is replaced.
        on_step: called with the name of what is trained and each step's report.

    Raises:
        EvaluationError: see `train_lite_dual` and `DevSuite`.
    """
    data, dev, towers = TrainingData(suite), DevSuite(suite), load_pretrained_towers()
    records = data.read(range(len(data)))
    table = feature_table(records, towers)
    known: KnownImages = {}
    losses, scores = {}, {}
    for name in (UNTRAINED, MASKED, UNMASKED):
        maps = _start(name, table, records, settings.seed)
        encoder = LiteTrainable(towers, table, maps, facts={}, known=known)
        chosen = training_settings(data, replace(settings, mask_equivalent=name != UNMASKED))
        if name != UNTRAINED:
            reporting = Reporting(on_step=partial(on_step, name))
            train(encoder, data, settings=chosen, processes=Processes(Accelerator(cpu=True)), reporting=reporting)
        losses[name] = _equivalent_loss(encoder, data, chosen.order, chosen.loss)
        scores[name] = dev.scores(encoder.embedder())
    return _compared(dev, losses, scores)


def _start(name: str, table: FeatureTable, records: list[TrainingRecord], seed: int) -> Projections:
    if name == UNTRAINED:
        return random_projections(table, dropout=IMAGE_DROPOUT, seed=seed)
    return ridge_projections(table, records, dropout=IMAGE_DROPOUT)


@torch.inference_mode()
def _equivalent_loss(encoder: LiteTrainable, data: TrainingData, order: OrderSettings, loss: LossSettings) -> float:
    """The mean over the batches of the first epoch that hold equivalent pairs."""
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
            value = equivalent_pairs_loss(queries, positives, same[:, : len(records)], temperature=loss.temperature)
            values.append(float(value))
    if not values:
        raise DataMissing("No two training records are equivalent, so masking changes nothing; train on labelled data.")
    return sum(values) / len(values)


def _compared(dev: DevSuite, losses: Mapping[str, float], scores: Mapping[str, DevScores]) -> list[AblationRow]:
    def against(name: str, other: str) -> Difference | None:
        if name == other:
            return None
        return compare_models(dev.spec, scores[name].outcomes, scores[other].outcomes)[0].difference

    return [
        AblationRow(name, losses[name], scores[name], against(name, UNTRAINED), against(name, MASKED))
        for name in scores
    ]

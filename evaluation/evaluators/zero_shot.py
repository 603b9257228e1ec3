"""Zero-shot classification with a pair of prompts a label: "LABEL" against "no LABEL".

The probability of a label is the softmax over the pair, which rises with the difference of the two cosines whatever the
temperature; the area under the ROC curve depends on the order alone, so it is taken from the differences. The pair is
that of CheXzero (Tiu et al., 2022).

Metrics: `auroc` (mean over labels that have both classes) and `auroc_LABEL`, with intervals over patients. A resample in
which a label has one class only has no value for it; the mean of that resample is over the other labels. Arrays:
`margins` and `truth` (images, labels), and `patients` (equal numbers for images of one patient).
"""

import numpy as np

from evaluation.errors import SuiteInvalid
from evaluation.evaluators.probe_scores import FloatRows, ProbeScores, cosines, metric_value
from evaluation.metrics.classification import area_under_curve
from evaluation.probe_tasks import BoolMatrix, LabelTask
from evaluation.statistics.clusters import cluster_numbers, resampled_weights
from evaluation.types import FloatMatrix

CHANCE = 0.5


def score_labels(task: LabelTask, vectors: FloatMatrix) -> ProbeScores:
    """Classify all images; `vectors` are unit float32 rows, one for each of the task's inputs.

    Raises:
        SuiteInvalid: no label has both classes.
    """
    similarities = cosines(vectors[list(task.images)], vectors[[*task.present, *task.absent]])
    present, absent = np.split(similarities, 2, axis=1)
    margins = present - absent
    scored = np.flatnonzero(task.truth.any(axis=0) & ~task.truth.all(axis=0))
    if not len(scored):
        raise SuiteInvalid(f"{task.spec.name}: no label is present in some images and absent in others.")
    replicates = _replicates(margins[:, scored], task.truth[:, scored], task)
    numbers, n_clusters = cluster_numbers(task.clusters)
    n_incomplete = int(np.isnan(replicates).any(axis=0).sum())
    warnings = (
        (f"{n_incomplete} resamples lack a class of some label; their mean is over the other labels.",)
        if n_incomplete
        else ()
    )
    return ProbeScores(
        metrics=(
            metric_value("auroc", _mean_over_labels(replicates), n_clusters=n_clusters),
            *(
                metric_value(f"auroc_{task.labels[label]}", row, n_clusters=n_clusters)
                for label, row in zip(scored, replicates, strict=True)
            ),
        ),
        chance=CHANCE,
        counts={
            "images": len(task.images),
            "labels": len(scored),
            "labels_left_out": len(task.labels) - len(scored),
            "clusters": n_clusters,
        },
        arrays={
            "margins": margins.astype(np.float32),
            "truth": task.truth.astype(np.float32),
            "patients": numbers.astype(np.float32),
        },
        warnings=warnings,
    )


def _replicates(margins: FloatRows, truth: BoolMatrix, task: LabelTask) -> FloatRows:
    """One row a label: the observed area, then one value a resample."""
    observed = [area_under_curve(column, known) for column, known in zip(margins.T, truth.T, strict=True)]
    blocks = [np.stack(observed)]
    for weights in resampled_weights(task.clusters, stratum=task.spec.dataset):
        areas = [area_under_curve(column, known, weights) for column, known in zip(margins.T, truth.T, strict=True)]
        blocks.append(np.stack(areas))
    return np.concatenate(blocks, axis=1)


def _mean_over_labels(replicates: FloatRows) -> FloatRows:
    known = np.isfinite(replicates)
    sums, counts = np.where(known, replicates, 0).sum(axis=0), known.sum(axis=0)
    means: FloatRows = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means

"""Discrimination Scores of one cell: one modality, level, style and subtype.

Metrics: `ds` (mean over images of the mean over templates), `failure_rate` (share of images whose mean DS is at most
0), `pass_rate` (share of image and template with DS > 0), `pass_rate_chance` (mean of p / (p + n)),
`pass_rate_adjusted` ((rate - chance) / (1 - chance), each resample with its own chance), `ds_size_matched`, `ds_scaled`
(DS over the spread of the model's cosines, which is held fixed in resamples; absent where all cosines are equal), and
`ds_blank` and `ds_noise` (mean over concepts and templates for an image that shows nothing, without interval).

Arrays: `anchors` (rows of the manifest), `ds` and `ds_size_matched` (anchors, templates), `n_positives` and
`n_negatives` (anchors, templates), `scale` (one number: the spread, 0 where all cosines are equal), `blind_ds` and
`blind_spread` (blank and noise, concepts, templates): the DS and the standard deviation of the probe's similarities.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.evaluators.probe_scores import (
    FloatRows,
    ProbeScores,
    cosines,
    empty_resamples_warning,
    metric_value,
    whole_numbers,
)
from evaluation.metrics.discrimination import (
    chance_of_passing,
    cosine_spread,
    discrimination_scores,
    size_matched_scores,
)
from evaluation.probe_tasks import CellTask, ProbeTexts
from evaluation.statistics.clusters import cluster_replicates
from evaluation.types import FloatMatrix, MetricValue

_FLOAT32 = np.float32


@dataclass(frozen=True, slots=True)
class _Scores:
    """Everything of shape (anchors, templates)."""

    ds: FloatRows
    size_matched: FloatRows
    n_positives: FloatRows
    n_negatives: FloatRows

    @property
    def chance(self) -> FloatRows:
        return chance_of_passing(self.n_positives, self.n_negatives)


def score_cell(task: CellTask, vectors: FloatMatrix) -> ProbeScores:
    """Score one cell; `vectors` are unit float32 rows, one for each of the task's inputs."""
    scores = _anchor_scores(task, vectors)
    blind_ds, blind_spread = _blind_scores(task, vectors)
    spread = _spread(task, vectors)
    replicates = _replicates(task, scores)
    negatives = scores.n_negatives.astype(int)
    return ProbeScores(
        metrics=_metrics(task, replicates, blind_ds, spread),
        chance=None,
        counts={
            "anchors": len(task.anchors),
            "anchors_in_set": len(task.images),
            "clusters": _n_clusters(task),
            "concepts": len(task.probes),
            "templates": scores.ds.shape[1],
            "negatives_min": int(negatives.min()),
            "negatives_max": int(negatives.max()),
            "left_out": sum(task.left_out.values()),
        },
        arrays={
            "anchors": whole_numbers(task.anchors),
            "ds": scores.ds.astype(_FLOAT32),
            "ds_size_matched": scores.size_matched.astype(_FLOAT32),
            "n_positives": scores.n_positives.astype(_FLOAT32),
            "n_negatives": scores.n_negatives.astype(_FLOAT32),
            "scale": np.array([spread or 0.0], dtype=_FLOAT32),
            "blind_ds": blind_ds.astype(_FLOAT32),
            "blind_spread": blind_spread.astype(_FLOAT32),
        },
        warnings=(*_warnings(task, spread), *empty_resamples_warning(replicates)),
    )


def _anchor_scores(task: CellTask, vectors: FloatMatrix) -> _Scores:
    shape = (len(task.anchors), len(task.probes[0]))
    scores = _Scores(*(np.empty(shape) for _ in range(4)))
    concepts = np.array(task.concepts)
    for number, variants in enumerate(task.probes):
        rows = np.flatnonzero(concepts == number)
        images = vectors[[task.images[task.anchors[row]] for row in rows]]
        for template, (positives, negatives) in enumerate(_sides(images, variants, vectors)):
            scores.ds[rows, template] = discrimination_scores(positives, negatives)
            scores.size_matched[rows, template] = size_matched_scores(positives, negatives)
            scores.n_positives[rows, template] = positives.shape[1]
            scores.n_negatives[rows, template] = negatives.shape[1]
    return scores


def _blind_scores(task: CellTask, vectors: FloatMatrix) -> tuple[FloatRows, FloatRows]:
    """DS of blank and noise image, and the spread of their similarities; both (2, concepts, templates)."""
    shape = (len(task.blind_images), len(task.probes), len(task.probes[0]))
    ds, spread = np.empty(shape), np.empty(shape)
    images = vectors[list(task.blind_images)]
    for number, variants in enumerate(task.probes):
        for template, (positives, negatives) in enumerate(_sides(images, variants, vectors)):
            ds[:, number, template] = discrimination_scores(positives, negatives)
            spread[:, number, template] = np.concatenate([positives, negatives], axis=1).std(axis=1)
    return ds, spread


def _sides(
    images: FloatMatrix, variants: tuple[ProbeTexts, ...], vectors: FloatMatrix
) -> list[tuple[FloatRows, FloatRows]]:
    """The cosines of images with the positives and negatives of each template variant, from one product."""
    texts = [text for variant in variants for text in (*variant.positives, *variant.negatives)]
    similarities = cosines(images, vectors[texts])
    sides = []
    start = 0
    for variant in variants:
        middle = start + len(variant.positives)
        stop = middle + len(variant.negatives)
        sides.append((similarities[:, start:middle], similarities[:, middle:stop]))
        start = stop
    return sides


def _spread(task: CellTask, vectors: FloatMatrix) -> float | None:
    """Over every image of the anchor set and every text of the modality's main probe sets: one number for all cells."""
    product: NDArray[np.float32] = vectors[list(task.images)] @ vectors[list(task.scale_texts)].T
    return cosine_spread(product)


def _replicates(task: CellTask, scores: _Scores) -> FloatRows:
    """Rows: DS, failure, pass, chance, size-matched DS; the observed mean first, then one column a resample."""
    per_anchor = scores.ds.mean(axis=1)
    rows = [
        per_anchor,
        (per_anchor <= 0).astype(np.float64),
        (scores.ds > 0).mean(axis=1),
        scores.chance.mean(axis=1),
        scores.size_matched.mean(axis=1),
    ]
    anchors = list(task.anchors)
    values = np.zeros((len(rows), len(task.images)))
    values[:, anchors] = rows
    used = np.zeros(len(task.images), dtype=bool)
    used[anchors] = True
    return cluster_replicates(values, clusters=task.clusters, stratum=task.anchor_set, used=used)


def _metrics(
    task: CellTask, replicates: FloatRows, blind_ds: FloatRows, spread: float | None
) -> tuple[MetricValue, ...]:
    ds, failed, passed, chance, size_matched = replicates
    named = {
        "ds": ds,
        "failure_rate": failed,
        "pass_rate": passed,
        "pass_rate_adjusted": (passed - chance) / (1 - chance),
        "ds_size_matched": size_matched,
    }
    if spread is not None:
        named["ds_scaled"] = ds / spread
    n_clusters = _n_clusters(task)
    blank, noise = blind_ds.mean(axis=(1, 2))
    return (
        *(metric_value(name, row, n_clusters=n_clusters) for name, row in named.items()),
        MetricValue("pass_rate_chance", float(chance[0])),
        MetricValue("ds_blank", float(blank)),
        MetricValue("ds_noise", float(noise)),
    )


def _n_clusters(task: CellTask) -> int:
    return len({task.clusters[anchor] for anchor in task.anchors})


def _warnings(task: CellTask, spread: float | None) -> tuple[str, ...]:
    notes = []
    if task.left_out:
        concepts = ", ".join(f"{concept or 'none given'} ({count})" for concept, count in sorted(task.left_out.items()))
        notes.append(f"Anchors whose concept has no probe are left out: {concepts}.")
    if spread is None:
        notes.append("All cosines are equal, so there is no scale for ds_scaled.")
    return tuple(notes)

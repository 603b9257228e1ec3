"""Retrieval between images and captions, in both directions.

Identical captions are one caption with several images, so a query may have several golds. Each gold is ranked among all
candidates; the expected number of golds in the first k places, under a random order of ties, is the sum of each gold's
own chance to stand there. Recall@k is that number over the query's golds, precision@k over k; with one gold precision is
recall / k.

Metrics: `image_to_text_recall@k`, `image_to_text_precision@k` and the same for `text_to_image`, k in 1, 5, 10, 50.
Intervals resample patients for images as queries, and captions for captions. Arrays of each direction, one column a
(query, gold): query, gold, better candidates, candidates tied with the gold; numbers are those of images and captions
in the task's order. `patients` has equal numbers for images of one patient.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.evaluators.probe_scores import FloatRows, ProbeScores, metric_value, whole_numbers
from evaluation.evaluators.similarity import rank_outcomes
from evaluation.metrics.ranking import recall
from evaluation.probe_tasks import CaptionTask
from evaluation.statistics.clusters import cluster_numbers, cluster_replicates
from evaluation.types import FloatMatrix, MetricValue, RankOutcomes, RetrievalQuery

CUTOFFS = (1, 5, 10, 50)


@dataclass(frozen=True, slots=True)
class _Direction:
    """Ranks of every gold of every query; `queries[i]` and `golds[i]` belong to `outcomes` i."""

    name: str
    queries: NDArray[np.intp]
    golds: NDArray[np.intp]
    outcomes: RankOutcomes

    def found(self, k: int) -> FloatRows:
        """Expected number of golds in the first k places, one value a query."""
        found: FloatRows = np.bincount(self.queries, weights=recall(self.outcomes, k)).astype(np.float64)
        return found

    @property
    def n_golds(self) -> NDArray[np.intp]:
        """Golds of each query."""
        return np.bincount(self.queries)

    @property
    def array(self) -> NDArray[np.float32]:
        """What is kept of the ranks, shape (4, golds of all queries)."""
        return np.stack([self.queries, self.golds, self.outcomes.above, self.outcomes.tied]).astype(np.float32)


def score_captions(task: CaptionTask, vectors: FloatMatrix) -> ProbeScores:
    """Rank both ways; `vectors` are unit float32 rows, one for each of the task's inputs."""
    images, captions = zip(*task.pairs, strict=True)
    forward = _direction("image_to_text", images, captions, (task.images, task.captions), vectors)
    backward = _direction("text_to_image", captions, images, (task.captions, task.images), vectors)
    patients, n_patients = cluster_numbers(task.clusters)
    own_clusters = tuple(str(number) for number in range(len(task.captions)))
    return ProbeScores(
        metrics=(
            *_metrics(forward, clusters=task.clusters, stratum=task.spec.dataset),
            *_metrics(backward, clusters=own_clusters, stratum=f"{task.spec.dataset} captions"),
        ),
        chance=1 / len(task.captions),
        counts={
            "images": len(task.images),
            "captions": len(task.captions),
            "pairs": len(task.pairs),
            "shared_captions": int((backward.n_golds > 1).sum()),
            "clusters": n_patients,
        },
        arrays={
            forward.name: forward.array,
            backward.name: backward.array,
            "patients": whole_numbers(patients.tolist()),
        },
    )


def _direction(
    name: str,
    queries: Sequence[int],
    golds: Sequence[int],
    inputs: tuple[tuple[int, ...], tuple[int, ...]],
    vectors: FloatMatrix,
) -> _Direction:
    own, pool = inputs
    asked = [
        RetrievalQuery(record=query, query=own[query], pool=pool, relevant=frozenset({pool[gold]}))
        for query, gold in zip(queries, golds, strict=True)
    ]
    return _Direction(name, np.array(queries), np.array(golds), rank_outcomes(vectors, asked))


def _metrics(direction: _Direction, *, clusters: tuple[str, ...], stratum: str) -> list[MetricValue]:
    rows = {}
    for k in CUTOFFS:
        found = direction.found(k)
        rows[f"{direction.name}_recall@{k}"] = found / direction.n_golds
        rows[f"{direction.name}_precision@{k}"] = found / k
    replicates = cluster_replicates(np.stack(list(rows.values())), clusters=clusters, stratum=stratum)
    _, n_clusters = cluster_numbers(clusters)
    return [metric_value(name, row, n_clusters=n_clusters) for name, row in zip(rows, replicates, strict=True)]

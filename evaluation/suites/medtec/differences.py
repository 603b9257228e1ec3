"""Paired differences between models of a probing suite: in each main cell, and in the mean over a modality's cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from evaluation.probe_types import ProbeSuiteSpec
from evaluation.statistics.bootstrap import RESAMPLES, FloatArray
from evaluation.statistics.clusters import cluster_estimate, cluster_replicates
from evaluation.suites.medtec.evidence import (
    AnchorEvidence,
    BoardMaterial,
    Results,
    anchor_evidence,
    comparable_results,
)


@dataclass(frozen=True, slots=True)
class PairedCell:
    """The Discrimination Score of model `a` minus that of `b` on a modality, with its 95% interval where there is one.

    `level` is empty for the mean over the main cells that both were measured on, of which there are `n_cells`.
    """

    a: str
    b: str
    modality: str
    dataset: str
    level: str
    value: float
    lower: float | None
    upper: float | None
    n_cells: int


def paired_cells(
    suite: ProbeSuiteSpec,
    results: Results,
    material: BoardMaterial,
    *,
    models: Sequence[str],
    resamples: int = RESAMPLES,
) -> tuple[PairedCell, ...]:
    """The differences between any two of these models; `a` sorts before `b`.

    All cells of an anchor set share the draws of its patients or lesions, so the difference of two resampled means is
    that of the same people. Results that do not stand on the board for their data are left out here too.

    Raises:
        ResultInvalid, DataMissing: see `anchor_evidence`.
    """
    comparable, _ = comparable_results(suite, results)
    chosen = {model: comparable[model] for model in sorted(models) if model in comparable}
    found: list[PairedCell] = []
    for evidence in anchor_evidence(suite, chosen, material):
        found += _of_set(evidence, resamples)
    return tuple(found)


def _of_set(evidence: AnchorEvidence, resamples: int) -> Iterator[PairedCell]:
    main = evidence.cells["is_main"].to_numpy(dtype=bool)
    cells, scores = evidence.cells[main].reset_index(drop=True), evidence.scores[main]
    if not len(cells):
        return
    means = cluster_replicates(
        scores,
        clusters=evidence.anchors["cluster"].tolist(),
        stratum=evidence.anchor_set.name,
        used=np.isfinite(scores),
        resamples=resamples,
    )
    rows = {
        str(model): {str(level): number for level, number in zip(group["level"], group.index, strict=True)}
        for model, group in cells.groupby("model")
    }
    for a, b in combinations(sorted(rows), 2):
        yield from _of_pair(a, b, rows, cells, means)


def _of_pair(
    a: str, b: str, rows: Mapping[str, Mapping[str, int]], cells: pd.DataFrame, means: FloatArray
) -> Iterator[PairedCell]:
    levels = sorted(rows[a].keys() & rows[b].keys())
    if not levels:
        return
    gaps = np.stack([means[rows[a][level]] - means[rows[b][level]] for level in levels])
    clusters = [int(cells["n_clusters"][rows[a][level]]) for level in levels]
    first = cells.iloc[rows[a][levels[0]]]
    for level, gap, n_clusters, n_cells in (
        ("", gaps.mean(axis=0), min(clusters), len(levels)),
        *((level, gap, count, 1) for level, gap, count in zip(levels, gaps, clusters, strict=True)),
    ):
        estimate = cluster_estimate(gap, n_clusters=n_clusters).estimate
        yield PairedCell(
            a=a,
            b=b,
            modality=str(first["modality"]),
            dataset=str(first["dataset"]),
            level=level,
            value=estimate.value,
            lower=estimate.lower,
            upper=estimate.upper,
            n_cells=n_cells,
        )

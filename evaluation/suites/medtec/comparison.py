"""Two results of one probing suite side by side: the paired difference of every cell that both were measured on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskResult
from evaluation.statistics.bootstrap import RESAMPLES
from evaluation.statistics.clusters import cluster_estimate, cluster_replicates
from evaluation.statistics.intervals import Estimate
from evaluation.suites.medtec.evidence import BoardMaterial, anchor_evidence

_A, _B = "a", "b"


@dataclass(frozen=True, slots=True)
class CellDifference:
    """The Discrimination Score of `a` minus that of `b` in one cell, with its 95% interval where there is one."""

    task: str
    estimate: Estimate


def compare_cells(
    suite: ProbeSuiteSpec,
    a: Mapping[str, ProbeTaskResult],
    b: Mapping[str, ProbeTaskResult],
    material: BoardMaterial,
    *,
    resamples: int = RESAMPLES,
) -> tuple[CellDifference, ...]:
    """The differences of all cells that both have on the same data; patients or lesions are resampled as on boards.

    Both take the same anchors in a cell, so the mean of the anchors' differences is the difference of the means.

    Raises:
        DataMissing: the anchor set of a cell is not given.
        ResultInvalid: a result is of another number of anchors than the set has.
    """
    shared = [name for name, result in a.items() if name in b and result.data_sha256 == b[name].data_sha256]
    results = {_A: {name: a[name] for name in shared}, _B: {name: b[name] for name in shared}}
    found = []
    for evidence in anchor_evidence(suite, results, material):
        cells = evidence.cells
        tasks = list(dict.fromkeys(cells["task"]))
        of_a, of_b = (
            np.stack(
                [evidence.scores[((cells["task"] == task) & (cells["model"] == model)).argmax()] for task in tasks]
            )
            for model in (_A, _B)
        )
        gaps = of_a - of_b
        replicates = cluster_replicates(
            gaps,
            clusters=[anchor.cluster for anchor in evidence.anchor_set.anchors],
            stratum=evidence.anchor_set.name,
            used=np.isfinite(gaps),
            resamples=resamples,
        )
        counts = cells.drop_duplicates("task")["n_clusters"]
        found += [
            CellDifference(task, cluster_estimate(row, n_clusters=int(count)).estimate)
            for task, row, count in zip(tasks, replicates, counts, strict=True)
        ]
    return tuple(found)

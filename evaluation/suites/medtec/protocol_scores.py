"""What retrieval, zero-shot classification and probing give all models, under draws of patients that they share.

Where protocols use one data set, its patients are drawn once for all of them, so that a resample changes the same
images in each. Patients of different data sets are drawn independently.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import ResultInvalid
from evaluation.metrics.classification import area_under_curve
from evaluation.metrics.ranking import recall
from evaluation.probe_types import ProbeSuiteSpec, ProbeTaskResult, ProbeTaskSpec
from evaluation.statistics.bootstrap import FloatArray, draw_counts
from evaluation.suites.medtec.analyses.facts import SECOND_DATASET, task_facts
from evaluation.suites.medtec.analyses.protocols import ProtocolScores
from evaluation.suites.medtec.evidence import BoardMaterial, Results
from evaluation.types import RankOutcomes
from evaluation.vocabulary import Level, Modality, ProbeTaskKind

RETRIEVAL_CUTOFF = 10
"""Images are ranked among captions by recall at so many."""
MOST_RESAMPLES = 1_000
"""Of a comparison: an area under a curve has to be sorted and summed anew in each, for every model and label."""

PROTOCOL_NAMES = {
    ProbeTaskKind.RETRIEVAL: "retrieval",
    ProbeTaskKind.ZERO_SHOT: "zero_shot",
    ProbeTaskKind.CELL: "probing",
}
METRICS = {
    "retrieval": f"image_to_text_recall@{RETRIEVAL_CUTOFF}",
    "zero_shot": "auroc",
    "probing": "ds",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tasks of at least two protocols on one modality; `name` is the modality, or modality and data set."""

    name: str
    tasks: Mapping[str, ProbeTaskSpec]

    @property
    def same_images(self) -> bool:
        """Whether all protocols use one data set."""
        return len({spec.dataset for spec in self.tasks.values()}) == 1


def comparisons(suite: ProbeSuiteSpec) -> tuple[Comparison, ...]:
    """For each modality the protocols on its main data sets, and those on each data set that several of them use."""
    main_cells = task_facts([spec for spec in suite.tasks if spec.kind is ProbeTaskKind.CELL])
    probing = (
        set(main_cells.loc[main_cells["is_main"] & (main_cells["level"] == Level.L4), "task"])
        if len(main_cells)
        else set()
    )
    eligible = [
        spec
        for spec in suite.tasks
        if spec.kind in (ProbeTaskKind.RETRIEVAL, ProbeTaskKind.ZERO_SHOT) or spec.name in probing
    ]
    found: list[Comparison] = []
    for modality in Modality:
        own = [spec for spec in eligible if spec.modality is modality]
        found.append(Comparison(modality.value, _by_protocol(spec for spec in own if SECOND_DATASET not in spec.name)))
        for dataset in dict.fromkeys(spec.dataset for spec in own):
            same = Comparison(
                f"{modality.value}{SECOND_DATASET}{dataset}", _by_protocol(s for s in own if s.dataset == dataset)
            )
            if same.tasks != found[-1].tasks:
                found.append(same)
    return tuple(comparison for comparison in found if len(comparison.tasks) > 1)


def protocol_scores(
    comparison: Comparison, results: Results, material: BoardMaterial, *, resamples: int
) -> dict[str, ProtocolScores]:
    """Each protocol's values for all models that have its task: observed, then one column a resample.

    Args:
        comparison: which tasks.
        results: comparable ones.
        material: patients and lesions by name.
        resamples: no more than `MOST_RESAMPLES` are taken.

    Raises:
        DataMissing: the anchor set or the patients of a task are not given.
        ResultInvalid: a result is of another number of patients.
    """
    protocols = [
        _measure(name, spec, results, material)
        for name, spec in comparison.tasks.items()
        if any(spec.name in tasks for tasks in results.values())
    ]
    scores: dict[str, ProtocolScores] = {}
    for dataset in dict.fromkeys(protocol.spec.dataset for protocol in protocols):
        own = [protocol for protocol in protocols if protocol.spec.dataset == dataset]
        scores |= _resampled(own, stratum=dataset, resamples=min(resamples, MOST_RESAMPLES))
    return {name: scores[name] for name in comparison.tasks if name in scores}


@dataclass(frozen=True, slots=True)
class _Protocol:
    """One protocol: `values` makes (models, rows) from weights of shape (rows, images)."""

    name: str
    spec: ProbeTaskSpec
    models: tuple[str, ...]
    clusters: tuple[str, ...]
    values: Callable[[FloatArray], FloatArray]


def _by_protocol(specs: Iterator[ProbeTaskSpec]) -> dict[str, ProbeTaskSpec]:
    """The first task of each protocol, in the order of `PROTOCOL_NAMES`."""
    found: dict[str, ProbeTaskSpec] = {}
    for spec in specs:
        found.setdefault(PROTOCOL_NAMES[spec.kind], spec)
    return {name: found[name] for name in PROTOCOL_NAMES.values() if name in found}


def _measure(name: str, spec: ProbeTaskSpec, results: Results, material: BoardMaterial) -> _Protocol:
    own = {model: tasks[spec.name] for model, tasks in results.items() if spec.name in tasks}
    makers = {"retrieval": _recalls, "zero_shot": _areas, "probing": _discrimination}
    measured = tuple(own.values())
    return _Protocol(name, spec, tuple(own), _clusters_of_images(spec, measured[0], material), makers[name](measured))


def _clusters_of_images(spec: ProbeTaskSpec, result: ProbeTaskResult, material: BoardMaterial) -> tuple[str, ...]:
    """The patient or lesion of each anchor of the set, each image with captions, or each classified image."""
    if spec.kind is ProbeTaskKind.CELL:
        return tuple(anchor.cluster for anchor in material.anchor_set(spec).anchors)
    names = material.patients_of(spec)
    numbers = result.arrays["patients"].astype(np.intp)
    if numbers.max() + 1 != len(names):
        raise ResultInvalid(
            f"{spec.name} was measured on {numbers.max() + 1} patients, but {spec.data_path} has {len(names)}. Use the"
            " data that were measured."
        )
    return tuple(names[number] for number in numbers)


def _resampled(protocols: Sequence[_Protocol], *, stratum: str, resamples: int) -> dict[str, ProtocolScores]:
    names = {name: place for place, name in enumerate(dict.fromkeys(n for p in protocols for n in p.clusters))}
    places = [np.array([names[name] for name in protocol.clusters]) for protocol in protocols]
    blocks: list[list[FloatArray]] = [[protocol.values(np.ones((1, len(protocol.clusters))))] for protocol in protocols]
    for counts in draw_counts(stratum, resamples=resamples, n=len(names)):
        for protocol, place, found in zip(protocols, places, blocks, strict=True):
            found.append(protocol.values(counts[:, place]))
    return {
        protocol.name: ProtocolScores(
            protocol.spec.name, METRICS[protocol.name], protocol.models, np.concatenate(found, axis=1)
        )
        for protocol, found in zip(protocols, blocks, strict=True)
    }


def _weighted_means(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Means over the images that have a value (others are NaN, for all models alike), shape (models, rows)."""
    used = np.isfinite(values).all(axis=0)
    sizes = weights[:, used].sum(axis=1)
    sums = values[:, used] @ weights[:, used].T
    means: FloatArray = np.full(sums.shape, np.nan)
    np.divide(sums, sizes, out=means, where=sizes > 0)
    return means


def _recalls(results: Sequence[ProbeTaskResult]) -> Callable[[FloatArray], FloatArray]:
    """Recall of each image's own captions among the first `RETRIEVAL_CUTOFF`."""
    values = np.stack([_recall_of_images(result) for result in results])
    return lambda weights: _weighted_means(values, weights)


def _recall_of_images(result: ProbeTaskResult) -> FloatArray:
    queries, _, above, tied = result.arrays["image_to_text"].astype(np.int32)
    outcomes = RankOutcomes(above, tied, np.ones_like(above), np.full_like(above, result.counts["captions"]))
    sums = np.bincount(queries, weights=recall(outcomes, RETRIEVAL_CUTOFF))
    found: FloatArray = sums / np.bincount(queries)
    return found


def _areas(results: Sequence[ProbeTaskResult]) -> Callable[[FloatArray], FloatArray]:
    """Mean over labels of the area under the curve; a label of one class has none and does not count."""
    truth = results[0].arrays["truth"] > 0
    margins = [result.arrays["margins"].astype(np.float64) for result in results]
    return lambda weights: np.stack([_mean_area(own, truth, weights) for own in margins])


def _mean_area(margins: FloatArray, truth: np.ndarray, weights: FloatArray) -> FloatArray:
    areas = np.stack(
        [area_under_curve(column, known, weights) for column, known in zip(margins.T, truth.T, strict=True)]
    )
    counts = np.isfinite(areas).sum(axis=0)
    means: FloatArray = np.full(areas.shape[1], np.nan)
    np.divide(np.nansum(areas, axis=0), counts, out=means, where=counts > 0)
    return means


def _discrimination(results: Sequence[ProbeTaskResult]) -> Callable[[FloatArray], FloatArray]:
    """Mean DS of the anchors that the cell takes."""
    values = np.full((len(results), results[0].counts["anchors_in_set"]), np.nan)
    for row, result in zip(values, results, strict=True):
        row[result.arrays["anchors"].astype(np.intp)] = result.arrays["ds"].mean(axis=1, dtype=np.float64)
    return lambda weights: _weighted_means(values, weights)

"""From the results of all models on a probing suite to tables and matrices that analyses start from."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evaluation.errors import DataMissing, ResultInvalid, TaskUnknown
from evaluation.probe_types import AnchorSet, ProbeSet, ProbeSuiteSpec, ProbeTaskResult, ProbeTaskSpec
from evaluation.statistics.bootstrap import FloatArray
from evaluation.suites.medtec.analyses.checks import mean_null
from evaluation.suites.medtec.analyses.facts import task_facts
from evaluation.suites.medtec.board_frames import columns_of
from evaluation.suites.medtec.board_rows import ClosedQuestions, LeftOut
from evaluation.types import MetricValue
from evaluation.vocabulary import ProbeTaskKind

Results = Mapping[str, Mapping[str, ProbeTaskResult]]
"""By the key of a model and the name of a task."""

BLIND_IMAGES = ("blank", "noise")
BLIND_COLUMNS = ("model", "task", "modality", "level", "image", "ds", "spread", "mean_null")


@dataclass(frozen=True, slots=True)
class BoardMaterial:
    """What results do not hold but analyses need: whom the images are of, and the texts.

    `anchor_sets` and `patients` are by the `data_path` of the tasks that use them. `patients` has, for tasks without
    anchors, the distinct patients of the images in the order in which they first appear.
    """

    anchor_sets: Mapping[str, AnchorSet]
    patients: Mapping[str, tuple[str, ...]]
    probe_sets: tuple[ProbeSet, ...]

    def anchor_set(self, spec: ProbeTaskSpec) -> AnchorSet:
        """The anchor set of a task.

        Raises:
            DataMissing: it is not given.
        """
        if spec.data_path not in self.anchor_sets:
            raise DataMissing(f"The anchor set {spec.data_path} of {spec.name} is not there. Build the anchors again.")
        return self.anchor_sets[spec.data_path]

    def patients_of(self, spec: ProbeTaskSpec) -> tuple[str, ...]:
        """The patients of a task without anchors.

        Raises:
            DataMissing: they are not given.
        """
        if spec.data_path not in self.patients:
            raise DataMissing(f"The patients of {spec.name} are not there. Build {spec.data_path} again.")
        return self.patients[spec.data_path]


@dataclass(frozen=True, slots=True)
class AnchorEvidence:
    """All cells of all models over one anchor set.

    `cells` has one row a cell: model, what `task_facts` says of the task, and the cell's own numbers. `scores` has the
    mean DS over templates of every anchor, shape (cells, anchors), NaN where a cell leaves an anchor out.
    """

    anchor_set: AnchorSet
    cells: pd.DataFrame
    scores: FloatArray

    @property
    def anchors(self) -> pd.DataFrame:
        """Attributes and cluster of every anchor."""
        columns = ("sex", "age", "skin_tone", "cluster")
        return pd.DataFrame(
            {name: [getattr(anchor, name) for anchor in self.anchor_set.anchors] for name in columns}
        ).astype({"age": float})


def comparable_results(suite: ProbeSuiteSpec, results: Results) -> tuple[Results, tuple[LeftOut, ...]]:
    """The results that can stand side by side, and those that cannot.

    A task is compared on the data that most models were measured on; of equally many, the model that comes last
    decides.

    Raises:
        TaskUnknown: a model has a task that the suite does not have.
    """
    known = {spec.name for spec in suite.tasks}
    data: dict[str, list[str]] = {}
    for model, tasks in results.items():
        for task, result in tasks.items():
            if task not in known:
                raise TaskUnknown(
                    f"{model} has a result of {task}, which {suite.slug} {suite.version} does not have. Name the suite"
                    " that it was run on."
                )
            data.setdefault(task, []).append(result.data_sha256)
    chosen = {task: _most_common(shas) for task, shas in data.items()}
    kept = {
        model: {task: result for task, result in tasks.items() if result.data_sha256 == chosen[task]}
        for model, tasks in results.items()
    }
    left_out = (
        LeftOut(model, task) for model, tasks in results.items() for task in tasks if task not in kept[model]
    )  # fmt: skip
    return kept, tuple(left_out)


def anchor_evidence(suite: ProbeSuiteSpec, results: Results, material: BoardMaterial) -> Iterator[AnchorEvidence]:
    """The evidence of each anchor set that some model has a result on, in the suite's order.

    Args:
        suite: declares the tasks.
        results: comparable ones.
        material: has the anchor sets.

    Raises:
        DataMissing: an anchor set is not given.
        ResultInvalid: a result is of another number of anchors than the set has.
    """
    specs = [spec for spec in suite.tasks if spec.kind is ProbeTaskKind.CELL]
    for data_path in dict.fromkeys(spec.data_path for spec in specs):
        own = [spec for spec in specs if spec.data_path == data_path]
        found = [
            (model, spec, tasks[spec.name]) for spec in own for model, tasks in results.items() if spec.name in tasks
        ]
        if not found:
            continue
        yield _evidence(material.anchor_set(own[0]), own, found)


def metric(result: ProbeTaskResult, name: str) -> MetricValue:
    """A metric of a result.

    Raises:
        ResultInvalid: the result does not have it.
    """
    found = next((value for value in result.metrics if value.name == name), None)
    if found is None:
        raise ResultInvalid(f"{result.task} has no metric {name}. Evaluate the model again with this version.")
    return found


def question_figures(suite: ProbeSuiteSpec, results: Results) -> pd.DataFrame:
    """What was measured on closed questions, one row a model and task: the columns of `ClosedQuestions` but one."""
    rows = []
    for spec in suite.tasks:
        for model, tasks in results.items():
            if spec.kind is not ProbeTaskKind.CLOSED_QUESTIONS or spec.name not in tasks:
                continue
            result = tasks[spec.name]
            accuracy = metric(result, "balanced_accuracy")
            rows.append(
                {
                    "model": model,
                    "task": spec.name,
                    "dataset": spec.dataset,
                    "balanced_accuracy": accuracy.value,
                    "lower": accuracy.lower,
                    "upper": accuracy.upper,
                    "yes_rate": metric(result, "yes_rate").value,
                    **{f"n_{name}": result.counts[name] for name in ("questions", "yes", "no", "ties", "without_rule")},
                }
            )
    return pd.DataFrame(rows, columns=[name for name in columns_of(ClosedQuestions) if name != "exceeds_chance"])


def blind_baselines(evidence: AnchorEvidence, results: Results) -> pd.DataFrame:
    """The mean DS on each image that shows nothing, one row a main cell and image.

    Columns: model, task, modality, level, image, ds, and `spread` and `mean_null` as `with_null` takes them.
    """
    rows = []
    for cell in evidence.cells[evidence.cells["is_main"]].itertuples():
        arrays = results[str(cell.model)][str(cell.task)].arrays
        for place, image in enumerate(BLIND_IMAGES):
            rows.append(
                {
                    "model": cell.model,
                    "task": cell.task,
                    "modality": cell.modality,
                    "level": cell.level,
                    "image": image,
                    "ds": float(arrays["blind_ds"][place].mean(dtype=np.float64)),
                    "spread": float(arrays["blind_spread"][place].mean(dtype=np.float64)),
                    "mean_null": mean_null(
                        arrays["n_positives"].astype(np.float64), arrays["n_negatives"].astype(np.float64)
                    ),
                }
            )
    return pd.DataFrame(rows, columns=list(BLIND_COLUMNS))


def _most_common(shas: Sequence[str]) -> str:
    counts = Counter(shas)
    latest = {sha: place for place, sha in enumerate(shas)}
    return max(counts, key=lambda sha: (counts[sha], latest[sha]))


def _evidence(
    anchor_set: AnchorSet, specs: Sequence[ProbeTaskSpec], found: Sequence[tuple[str, ProbeTaskSpec, ProbeTaskResult]]
) -> AnchorEvidence:
    clusters = np.array([anchor.cluster for anchor in anchor_set.anchors])
    rows = []
    scores = np.full((len(found), len(clusters)), np.nan)
    for number, (model, spec, result) in enumerate(found):
        if result.counts["anchors_in_set"] != len(clusters):
            raise ResultInvalid(
                f"{spec.name} of {model} was measured on a set of {result.counts['anchors_in_set']} anchors, but"
                f" {spec.data_path} has {len(clusters)}. Use the anchor set that was measured."
            )
        places = result.arrays["anchors"].astype(np.intp)
        scores[number, places] = result.arrays["ds"].mean(axis=1, dtype=np.float64)
        rows.append({"model": model, "task": spec.name, **_numbers(result, len(set(clusters[places])))})
    facts = task_facts(specs)
    return AnchorEvidence(anchor_set, pd.DataFrame(rows).merge(facts, on="task", how="left"), scores)


def _numbers(result: ProbeTaskResult, n_clusters: int) -> dict[str, object]:
    scaled = [value.value for value in result.metrics if value.name == "ds_scaled"]
    return {
        "failure_rate": metric(result, "failure_rate").value,
        "pass_rate_adjusted": metric(result, "pass_rate_adjusted").value,
        "ds_size_matched": metric(result, "ds_size_matched").value,
        "ds_scaled": scaled[0] if scaled else None,
        "n_anchors": result.counts["anchors"],
        "n_clusters": n_clusters,
        "n_negatives_min": result.counts["negatives_min"],
        "n_negatives_max": result.counts["negatives_max"],
    }

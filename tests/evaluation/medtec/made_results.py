"""Declarations, anchors and results of a probing suite made by hand, in the form that evaluators write."""

from collections.abc import Sequence

import numpy as np

from evaluation.manifest import canonical_sha256, spec_sha256
from evaluation.probe_types import Anchor, AnchorSet, ProbeSuiteSpec, ProbeTaskResult, ProbeTaskSpec
from evaluation.types import MetricValue
from evaluation.vocabulary import AnchorSelection, Level, Modality, NegationSubtype, PhrasingStyle, ProbeTaskKind


def cell_spec(name: str, *, dataset: str = "idrid", **changes) -> ProbeTaskSpec:
    """A cell by its task name: `{modality}.{level}[.{style or subtype}][@{dataset}]`."""
    modality, level, *rest = name.partition("@")[0].split(".")
    part = rest[0] if rest else ""
    is_negation = level == "L5"
    facts = {
        "name": name,
        "title": name,
        "kind": ProbeTaskKind.CELL,
        "modality": Modality(modality),
        "level": Level(level),
        "style": PhrasingStyle(part) if part in list(PhrasingStyle) else PhrasingStyle.TEMPLATE,
        "subtype": (NegationSubtype(part) if part in list(NegationSubtype) else NegationSubtype.MIXED)
        if is_negation
        else None,
        "selection": AnchorSelection.NO_FINDING
        if part == "no_finding"
        else AnchorSelection.FINDING
        if is_negation
        else AnchorSelection.ALL,
        "dataset": dataset,
        "data_path": f"anchors/{dataset}.csv",
        "probes_sha256": "0" * 64,
        "licence": "CC0",
        "images_may_be_shown": True,
    }
    return ProbeTaskSpec(**facts | changes)


def protocol_spec(name: str, kind: ProbeTaskKind, *, dataset: str, modality: Modality | None = None) -> ProbeTaskSpec:
    return ProbeTaskSpec(
        name=name,
        title=name,
        kind=kind,
        modality=modality,
        level=None,
        style=None,
        subtype=None,
        selection=AnchorSelection.ALL,
        dataset=dataset,
        data_path=f"{kind}/{dataset}.json",
        probes_sha256="",
        licence="CC0",
        images_may_be_shown=True,
    )


def suite_of(*specs: ProbeTaskSpec) -> ProbeSuiteSpec:
    return ProbeSuiteSpec("medtec-made", "1", "Made", synthetic=True, tasks=specs)


def anchor_set(
    *, clusters: Sequence[str], name: str = "idrid", sexes: Sequence[str] = (), ages: Sequence[float | None] = ()
) -> AnchorSet:
    anchors = tuple(
        Anchor(
            anchor_id=f"{name}-{number}",
            modality=Modality.FUNDUS,
            dataset=name,
            dataset_version="1",
            source_split="train",
            path=f"images/{name}/{number}.png",
            sha256="0" * 64,
            cluster=cluster,
            label="diabetic_retinopathy",
            label_source="expert",
            region="",
            view="",
            slice_index=None,
            window="",
            sex=sexes[number] if sexes else "",
            age=ages[number] if ages else None,
            skin_tone="",
            licence="CC0",
            seed=42,
            code_version="test",
        )
        for number, cluster in enumerate(clusters)
    )
    return AnchorSet(name, Modality.FUNDUS, anchors, {}, "0" * 64)


def cell_result(
    spec: ProbeTaskSpec,
    ds: Sequence[Sequence[float]],
    *,
    in_set: int,
    anchors: Sequence[int] | None = None,
    data: str = "first",
    blind: tuple[float, float] = (-0.02, -0.03),
    scaled: float | None = 1.5,
) -> ProbeTaskResult:
    scores = np.array(ds, dtype=np.float32)
    places = range(len(scores)) if anchors is None else anchors
    metrics = [
        MetricValue("ds", float(scores.mean())),
        MetricValue("failure_rate", float((scores.mean(axis=1) <= 0).mean())),
        MetricValue("pass_rate_adjusted", 0.25),
        MetricValue("ds_size_matched", 0.125),
    ]
    if scaled is not None:
        metrics.append(MetricValue("ds_scaled", scaled))
    return _result(
        spec,
        metrics=metrics,
        counts={"anchors": len(scores), "anchors_in_set": in_set, "negatives_min": 8, "negatives_max": 10},
        arrays={
            "anchors": np.array(list(places)),
            "ds": scores,
            "n_positives": np.full(scores.shape, 4),
            "n_negatives": np.full(scores.shape, 8),
            "blind_ds": np.array(blind).reshape(2, 1, 1),
            "blind_spread": np.full((2, 1, 1), 0.05),
        },
        data=data,
    )


def question_result(
    spec: ProbeTaskSpec, *, accuracy: float, lower: float | None, upper: float | None
) -> ProbeTaskResult:
    return _result(
        spec,
        metrics=[MetricValue("balanced_accuracy", accuracy, lower, upper), MetricValue("yes_rate", 0.25, 0.2, 0.3)],
        counts={"questions": 100, "yes": 45, "no": 55, "ties": 1, "without_rule": 7, "clusters": 20},
        arrays={},
    )


def retrieval_result(spec: ProbeTaskSpec, above: Sequence[int], *, patients: Sequence[int]) -> ProbeTaskResult:
    """Each image has one caption of its own, behind `above` others."""
    numbers = range(len(above))
    return _result(
        spec,
        metrics=[],
        counts={"captions": len(above)},
        arrays={
            "image_to_text": np.array([numbers, numbers, above, np.zeros(len(above))]),
            "patients": np.array(patients),
        },
    )


def label_result(
    spec: ProbeTaskSpec, margins: Sequence[Sequence[float]], truth: Sequence[Sequence[int]], *, patients: Sequence[int]
) -> ProbeTaskResult:
    return _result(
        spec,
        metrics=[],
        counts={},
        arrays={"margins": np.array(margins), "truth": np.array(truth), "patients": np.array(patients)},
    )


def _result(spec: ProbeTaskSpec, *, metrics, counts, arrays, data: str = "first") -> ProbeTaskResult:
    return ProbeTaskResult(
        task=spec.name,
        kind=spec.kind,
        spec_sha256=spec_sha256(spec),
        data_sha256=canonical_sha256(data),
        metrics=tuple(metrics),
        chance=None,
        counts=counts,
        arrays={name: array.astype(np.float32) for name, array in arrays.items()},
        n_inputs=1,
        seconds_embedding=0.0,
        seconds_scoring=0.0,
        peak_memory_bytes=0,
    )

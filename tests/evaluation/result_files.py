"""Result files made from outcomes, without a model."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evaluation.evaluators.retrieval import metrics_with_intervals
from evaluation.manifest import canonical_sha256, spec_sha256, suite_sha256
from evaluation.metrics.ranking import chance_level, hit_at_1_bounds
from evaluation.results import ModelIdentity, RunResult, SuiteIdentity, write_result
from evaluation.suites.medheb.aggregation import aggregate
from evaluation.types import ModelDescription, RankOutcomes, SuiteSpec, TaskResult

ENVIRONMENT = {"python": "3.11", "platform": "test", "device": "cpu", "code_version": "test", "packages": {}}


def result_of(
    suite: SuiteSpec,
    outcomes: Mapping[str, RankOutcomes],
    *,
    model: str,
    revision: str = "",
    config: Mapping[str, str] | None = None,
    data: str = "first",
) -> RunResult:
    description = ModelDescription("clip", "CLIPModel", 8, 1000, ("text",), config or {})
    return RunResult(
        suite=SuiteIdentity(suite.slug, suite.version, suite.title, suite.synthetic, suite_sha256(suite)),
        model=ModelIdentity(model, revision, "", "", description, canonical_sha256(dict(config or {}))),
        environment=ENVIRONMENT,
        seed=42,
        created_at="2026-01-01T00:00:00+00:00",
        tasks=tuple(_task_result(suite, name, found, data=data) for name, found in outcomes.items()),
        failures=(),
        aggregates=aggregate(suite, outcomes),
    )


def write_result_of(path: Path, suite: SuiteSpec, outcomes: Mapping[str, RankOutcomes], **facts: str) -> Path:
    write_result(path, result_of(suite, outcomes, **{"model": path.stem, **facts}))
    return path


def _task_result(suite: SuiteSpec, name: str, outcomes: RankOutcomes, *, data: str) -> TaskResult:
    (spec,) = [spec for spec in suite.tasks if spec.name == name]
    optimistic, pessimistic = hit_at_1_bounds(outcomes)
    return TaskResult(
        task=name,
        spec_sha256=spec_sha256(spec),
        data_sha256=canonical_sha256(data),
        metrics=metrics_with_intervals(outcomes, stratum=name),
        chance=chance_level(outcomes),
        hit_at_1_optimistic=optimistic,
        hit_at_1_pessimistic=pessimistic,
        outcomes=outcomes,
        records=np.arange(len(outcomes), dtype=np.int32),
        self_excluded=0,
        n_inputs=10,
        seconds_embedding=0.0,
        seconds_ranking=0.0,
        peak_memory_bytes=0,
    )

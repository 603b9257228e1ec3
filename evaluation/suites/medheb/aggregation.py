"""Means over tasks: overall, by family, domain, evidence form and split, with intervals.

The overall score is the mean of the family means, so a family counts the same however many tasks it has; the other
groups are plain means over their tasks. CV is the population standard deviation of the family means over their mean.
Intervals are percentiles of a bootstrap that resamples the queries inside each task.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.ranking import hit
from evaluation.statistics.bootstrap import bootstrap_means, percentile_interval
from evaluation.types import AggregateValue, RankOutcomes, SuiteSpec, TaskSpec

HIT = "hit@1"
CV = "cv"
OVERALL = "overall"

FloatArray = NDArray[np.float64]

_SCOPES: Mapping[str, Callable[[TaskSpec], StrEnum]] = {
    "family": lambda spec: spec.family,
    "domain": lambda spec: spec.domain,
    "evidence_form": lambda spec: spec.evidence_form,
    "split": lambda spec: spec.split,
}


def aggregate(suite: SuiteSpec, outcomes: Mapping[str, RankOutcomes]) -> tuple[AggregateValue, ...]:
    """All aggregates of a run, from the outcomes of its scored tasks by name; empty groups are left out.

    CV is left out with fewer than two families, or where no family has any hit.
    """
    scores = {name: _Score(name, found) for name, found in outcomes.items()}
    specs = [spec for spec in suite.tasks if spec.name in scores]
    if not specs:
        return ()
    groups = [
        value for scope, key_of in _SCOPES.items() for value in _group_values(scope, key_of, suite, specs, scores)
    ]
    return (*_overall_values(suite, specs, scores), *groups)


class _Score:
    """Mean Hit@1 of a task: `values[0]`, followed by the means of its resamples."""

    def __init__(self, task: str, outcomes: RankOutcomes) -> None:
        hits = hit(outcomes, 1)
        self.values = np.concatenate([[hits.mean()], bootstrap_means(hits[np.newaxis], stratum=task)[0]])


def _group_values(
    scope: str,
    key_of: Callable[[TaskSpec], StrEnum],
    suite: SuiteSpec,
    specs: Sequence[TaskSpec],
    scores: Mapping[str, _Score],
) -> Iterator[AggregateValue]:
    for key, members in _members(key_of, specs).items():
        expected = sum(key_of(spec) == key for spec in suite.tasks)
        yield _value(scope, key, HIT, _mean(members, scores), n_tasks=len(members), n_expected=expected)


def _overall_values(
    suite: SuiteSpec, specs: Sequence[TaskSpec], scores: Mapping[str, _Score]
) -> Iterator[AggregateValue]:
    families = np.stack([_mean(members, scores) for members in _members(_SCOPES["family"], specs).values()])
    counts = {"n_tasks": len(specs), "n_expected": len(suite.tasks)}
    mean = families.mean(axis=0)
    yield _value(OVERALL, OVERALL, HIT, mean, **counts)
    if len(families) > 1 and mean[0] > 0:
        # A resample without any hit has no CV; the interval is then unknown.
        spread = np.divide(families.std(axis=0), mean, out=np.full_like(mean, np.nan), where=mean > 0)
        yield _value(OVERALL, OVERALL, CV, spread, **counts)


def _members(key_of: Callable[[TaskSpec], StrEnum], specs: Sequence[TaskSpec]) -> dict[StrEnum, list[TaskSpec]]:
    """Tasks by key, in the order of the key's closed list."""
    found = {key_of(spec) for spec in specs}
    ordered = [key for key in type(next(iter(found))) if key in found]
    return {key: [spec for spec in specs if key_of(spec) == key] for key in ordered}


def _mean(members: Sequence[TaskSpec], scores: Mapping[str, _Score]) -> FloatArray:
    mean: FloatArray = np.mean([scores[spec.name].values for spec in members], axis=0)
    return mean


def _value(scope: str, key: str, metric: str, values: FloatArray, *, n_tasks: int, n_expected: int) -> AggregateValue:
    value = float(values[0])
    lower, upper = (float(end) for end in percentile_interval(values[1:]))
    known = bool(np.isfinite(values).all())
    return AggregateValue(
        scope=scope,
        key=str(key),
        metric=metric,
        value=value,
        lower=min(lower, value) if known else None,
        upper=max(upper, value) if known else None,
        n_tasks=n_tasks,
        n_expected=n_expected,
    )

"""Means over tasks for every grouping, with intervals.

The overall score is the mean of the family means, so a family counts the same however many tasks it has; the other
groups are plain means over their tasks. CV is the population standard deviation of the family means over their mean.
An adjusted mean is the mean of the tasks' scores above chance, (hit - chance) / (1 - chance), each with the chance
level of its own pools. Intervals are percentiles of a bootstrap that resamples the queries inside each task.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from evaluation.metrics.ranking import adjusted_score, chance_level, hit
from evaluation.statistics.bootstrap import FloatArray, replicates
from evaluation.statistics.intervals import estimate
from evaluation.suites.medheb.analyses import coefficient_of_variation, overall_score
from evaluation.suites.medheb.groupings import family_groups, suite_groups
from evaluation.types import AggregateValue, RankOutcomes, SuiteSpec
from evaluation.vocabulary import AggregateScope

HIT = "hit@1"
ADJUSTED = "adjusted_hit@1"
CV = "cv"
OVERALL = AggregateScope.OVERALL.value

_Replicates = Mapping[str, FloatArray]


def aggregate(suite: SuiteSpec, outcomes: Mapping[str, RankOutcomes]) -> tuple[AggregateValue, ...]:
    """All aggregates of a run, from the outcomes of its scored tasks by name; empty groups are left out.

    CV is left out with fewer than two families, or where no family has any hit; adjusted means of a group are left out
    where one of its tasks has nothing but relevant candidates, so that nothing can be better than chance.
    """
    names = [spec.name for spec in suite.tasks if spec.name in outcomes]
    if not names:
        return ()
    hits = {name: replicates(hit(outcomes[name], 1)[np.newaxis], stratum=name)[0] for name in names}
    chances = {name: chance_level(outcomes[name]) for name in names}
    adjusted = {name: adjusted_score(hits[name], chances[name]) for name in names if chances[name] < 1}
    return (*_overall_values(suite, hits, adjusted), *_group_values(suite, hits, adjusted))


def _overall_values(suite: SuiteSpec, hits: _Replicates, adjusted: _Replicates) -> Iterator[AggregateValue]:
    counts = {"n_tasks": len(hits), "n_expected": len(suite.tasks)}
    families = _family_means(suite, hits)
    yield _value(OVERALL, OVERALL, HIT, overall_score(families), **counts)
    if len(adjusted) == len(hits):
        yield _value(OVERALL, OVERALL, ADJUSTED, overall_score(_family_means(suite, adjusted)), **counts)
    spread = coefficient_of_variation(families)
    if np.isfinite(spread.iloc[0]):
        yield _value(OVERALL, OVERALL, CV, spread, **counts)


def _group_values(suite: SuiteSpec, hits: _Replicates, adjusted: _Replicates) -> Iterator[AggregateValue]:
    for group in suite_groups(suite):
        scored = [name for name in group.tasks if name in hits]
        if not scored:
            continue
        counts = {"n_tasks": len(scored), "n_expected": len(group.tasks)}
        yield _value(group.scope, group.key, HIT, _mean(scored, hits), **counts)
        if all(name in adjusted for name in scored):
            yield _value(group.scope, group.key, ADJUSTED, _mean(scored, adjusted), **counts)


def _family_means(suite: SuiteSpec, values: _Replicates) -> pd.DataFrame:
    scored = ([name for name in group.tasks if name in values] for group in family_groups(suite))
    return pd.DataFrame(np.stack([_mean(names, values) for names in scored if names]))


def _mean(names: Sequence[str], values: _Replicates) -> FloatArray:
    mean: FloatArray = np.mean([values[name] for name in names], axis=0)
    return mean


def _value(
    scope: str, key: str, metric: str, values: FloatArray | pd.Series, *, n_tasks: int, n_expected: int
) -> AggregateValue:
    found = estimate(np.asarray(values))
    return AggregateValue(
        scope=str(scope),
        key=key,
        metric=metric,
        value=found.value,
        lower=found.lower,
        upper=found.upper,
        n_tasks=n_tasks,
        n_expected=n_expected,
    )

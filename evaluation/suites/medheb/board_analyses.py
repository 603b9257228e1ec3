"""The analyses of a board with their intervals: each function of `analyses.py`, applied to the resamples of a model."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from evaluation.metrics.ranking import points_from_ties
from evaluation.statistics.intervals import estimate
from evaluation.suites.medheb.analyses import (
    coefficient_of_variation,
    drop_from_established,
    group_means,
    held_out_gap,
    overall_score,
    spread_of_models,
)
from evaluation.suites.medheb.board import BUCKET_SCOPE, BucketSpread, ModelAnalysis
from evaluation.suites.medheb.score_sums import GroupSum, Outcomes, Place
from evaluation.types import SuiteSpec
from evaluation.vocabulary import AggregateScope

SHARED_FAMILIES = "split of the families of both splits"

_Sums = Mapping[Place, GroupSum]


def model_analyses(
    suite: SuiteSpec, outcomes: Outcomes, models: Sequence[str], sums: _Sums
) -> tuple[ModelAnalysis, ...]:
    """All analyses of the models that have a score for every task; one that the suite has no tasks for is left out."""
    complete = [
        number for number, model in enumerate(models) if all(spec.name in outcomes[model] for spec in suite.tasks)
    ]
    ties = _points_from_ties(suite, {models[number]: outcomes[models[number]] for number in complete})
    found = []
    for number in complete:
        for analysis, values in _analyses_of(number, sums):
            if np.isfinite(values.iloc[0]):
                value = estimate(values.to_numpy(dtype=np.float64))
                found.append(ModelAnalysis(analysis, models[number], value.value, value.lower, value.upper))
        found.append(ModelAnalysis("points_from_ties", models[number], float(ties[models[number]]), None, None))
    return tuple(found)


def bucket_spreads(members: Mapping[Place, frozenset[str]], sums: _Sums) -> tuple[BucketSpread, ...]:
    """The spread of the models that have a score for every task of a bucket, for each bucket that has a task."""
    found = []
    for (scope, key), total in sums.items():
        if scope != BUCKET_SCOPE:
            continue
        complete = total.complete
        spread = None
        if len(complete) > 1:
            resamples = pd.DataFrame({number: total.means(number) for number in complete})
            spread = estimate(spread_of_models(resamples).to_numpy(dtype=np.float64))
        found.append(
            BucketSpread(
                bucket=key,
                tasks=tuple(sorted(members[scope, key])),
                n_models=len(complete),
                value=spread.value if spread else None,
                lower=spread.lower if spread else None,
                upper=spread.upper if spread else None,
            )
        )
    return tuple(found)


def _analyses_of(model: int, sums: _Sums) -> Iterator[tuple[str, pd.Series]]:
    families = _table(sums, AggregateScope.FAMILY.value, model)
    yield "cv", coefficient_of_variation(families)
    for name, drop in drop_from_established(families).iterrows():
        yield f"drop_{name}", drop
    yield "held_out_gap", held_out_gap(_table(sums, AggregateScope.SPLIT.value, model))
    yield "held_out_gap_shared_families", held_out_gap(_table(sums, SHARED_FAMILIES, model))


def _table(sums: _Sums, scope: str, model: int) -> pd.DataFrame:
    """The means of a model in every group of a scope, a row a group, a column a resample."""
    rows = {key: total.means(model) for (place, key), total in sums.items() if place == scope}
    n_columns = next(iter(sums.values())).n_columns
    values = np.stack(list(rows.values())) if rows else np.empty((0, n_columns))
    return pd.DataFrame(values, index=list(rows))


def _points_from_ties(suite: SuiteSpec, outcomes: Outcomes) -> pd.Series:
    """By model, averaged as the overall score is."""
    families = pd.Series({spec.name: spec.family.value for spec in suite.tasks})
    points = pd.DataFrame(
        {model: {task: points_from_ties(ranks) for task, ranks in found.items()} for model, found in outcomes.items()},
        index=families.index,
    )
    return overall_score(group_means(points, families))

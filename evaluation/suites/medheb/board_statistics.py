"""From the outcomes of all models on a suite to everything that a board says about them.

Every model shares the resamples of a task, so means, differences and ranks are paired. Memory is what the sums of the
groups need: groups x models x (1 + resamples) numbers of 8 bytes, whatever the number of tasks and queries.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evaluation.manifest import suite_sha256
from evaluation.statistics.bootstrap import RESAMPLES, SEED, FloatArray
from evaluation.suites.medheb.analyses import families_of_both_splits
from evaluation.suites.medheb.board import BUCKET_SCOPE, TASK_SCOPE, BoardStatistics, GroupStandings
from evaluation.suites.medheb.board_analyses import SHARED_FAMILIES, bucket_spreads, model_analyses
from evaluation.suites.medheb.difficulty import Bucket, difficulty_buckets
from evaluation.suites.medheb.groupings import suite_groups
from evaluation.suites.medheb.score_sums import (
    GroupSum,
    Outcomes,
    Place,
    check_comparable,
    overall_means,
    score_table,
    task_replicates,
)
from evaluation.suites.medheb.standings import group_standings
from evaluation.types import SuiteSpec
from evaluation.vocabulary import AggregateScope, Split

_OVERALL = AggregateScope.OVERALL.value


def board_statistics(
    suite: SuiteSpec, outcomes: Outcomes, *, baselines: Sequence[str] = (), resamples: int = RESAMPLES
) -> BoardStatistics:
    """Means, intervals, ranks, tie groups and analyses of all models on a suite.

    Args:
        suite: declares the tasks; a model is ranked in a group when it has a score for all of the group's tasks.
        outcomes: by the key of a model and the name of a task. Only models evaluated on the same data may be given.
        baselines: keys of the models that difficulty buckets come from; without any there are no buckets.
        resamples: of the bootstrap.

    Raises:
        TaskUnknown: a model has a task that the suite does not have.
        ResultInvalid: two models have different queries or pools in a task.
        ValueError: a baseline is no model of the board.
    """
    check_comparable(suite, outcomes)
    models = tuple(sorted(outcomes))
    buckets = difficulty_buckets(score_table(suite, outcomes), baselines)
    members = _members(suite, buckets)
    sums = {place: GroupSum(len(models), resamples, tasks=tasks) for place, tasks in members.items()}
    tasks = []
    for task, having, values in task_replicates(suite, outcomes, models, resamples=resamples):
        for total in sums.values():
            total.add(task, having, values)
        tasks.append(_task_standings(task, models, having, values))
    return BoardStatistics(
        suite=suite.slug,
        version=suite.version,
        suite_sha256=suite_sha256(suite),
        seed=SEED,
        resamples=resamples,
        models=models,
        baselines=tuple(baselines),
        groups=(*_overall_standings(suite, models, sums), *_standings_by_group(models, sums), *tasks),
        analyses=model_analyses(suite, outcomes, models, sums),
        buckets=bucket_spreads(members, sums),
    )


def _members(suite: SuiteSpec, buckets: pd.Series) -> dict[Place, frozenset[str]]:
    """Names of the tasks of every group that sums are kept for."""
    groups = {(group.scope.value, group.key): group.tasks for group in suite_groups(suite)}
    facts = pd.DataFrame(
        {"family": [spec.family.value for spec in suite.tasks], "split": [spec.split.value for spec in suite.tasks]},
        index=[spec.name for spec in suite.tasks],
    )
    shared = families_of_both_splits(facts)
    groups |= {(BUCKET_SCOPE, key.value): tuple(buckets.index[buckets == key.value]) for key in Bucket}
    groups |= {(SHARED_FAMILIES, key.value): tuple(shared.index[shared == key.value]) for key in Split}
    return {place: frozenset(names) for place, names in groups.items() if names}


def _overall_standings(
    suite: SuiteSpec, models: Sequence[str], sums: Mapping[Place, GroupSum]
) -> tuple[GroupStandings, ...]:
    """The mean of the family means, over the families that a model has."""
    families = [total for (scope, _), total in sums.items() if scope == AggregateScope.FAMILY]
    counts = np.sum([total.counts for total in families], axis=0)
    means = [overall_means(families, number) for number in range(len(models))]
    if not means:
        return ()
    found = group_standings(
        _OVERALL, _OVERALL, models=models, means=np.stack(means), counts=counts, n_expected=len(suite.tasks)
    )
    return (found,)


def _standings_by_group(models: Sequence[str], sums: Mapping[Place, GroupSum]) -> list[GroupStandings]:
    return [
        group_standings(
            scope,
            key,
            models=models,
            means=np.stack([total.means(number) for number in range(len(models))]),
            counts=total.counts,
            n_expected=total.n_expected,
        )
        for (scope, key), total in sums.items()
        if scope != SHARED_FAMILIES and total.counts.any()
    ]


def _task_standings(task: str, models: Sequence[str], having: Sequence[int], values: FloatArray) -> GroupStandings:
    names = [models[number] for number in having]
    counts = np.ones(len(having), dtype=np.int64)
    return group_standings(TASK_SCOPE, task, models=names, means=values, counts=counts, n_expected=1)

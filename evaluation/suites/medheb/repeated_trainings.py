"""Which of two ways to train is better, each tried several times: paired differences of the overall score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.errors import ResultInvalid
from evaluation.statistics.bootstrap import RESAMPLES, FloatArray
from evaluation.statistics.intervals import Difference, difference
from evaluation.suites.medheb.groupings import family_groups
from evaluation.suites.medheb.score_sums import GroupSum, Outcomes, check_comparable, overall_means, task_replicates
from evaluation.types import RankOutcomes, SuiteSpec


@dataclass(frozen=True, slots=True)
class RepeatedDifference:
    """The mean over the trainings of overall Hit@1 of A minus that of B, and the difference in each training.

    The interval of the mean is over other queries of the same kind, with these trainings; how far trainings differ
    stands in `by_training`.
    """

    difference: Difference
    by_training: tuple[float, ...]


def compare_trainings(
    suite: SuiteSpec,
    a: Sequence[Mapping[str, RankOutcomes]],
    b: Sequence[Mapping[str, RankOutcomes]],
    *,
    resamples: int = RESAMPLES,
) -> RepeatedDifference:
    """Compare the outcomes of the n-th training of A with those of the n-th of B, on common resamples of the queries.

    Raises:
        ResultInvalid: there is no training, not as many of A as of B, or some have other tasks, queries or pools.
        TaskUnknown: there is a task that the suite does not have.
    """
    if not a or len(a) != len(b) or len({frozenset(tasks) for tasks in (*a, *b)}) != 1:
        raise ResultInvalid("Trainings are compared in pairs over the same tasks; score each model on all of them.")
    outcomes = {str(number): tasks for number, tasks in enumerate((*a, *b))}
    check_comparable(suite, outcomes)
    overall = _overall(suite, outcomes, resamples=resamples)
    gaps = overall[: len(a), 0] - overall[len(a) :, 0]
    means = overall[: len(a)].mean(axis=0), overall[len(a) :].mean(axis=0)
    return RepeatedDifference(difference(*means), tuple(float(gap) for gap in gaps))


def _overall(suite: SuiteSpec, outcomes: Outcomes, *, resamples: int) -> FloatArray:
    """The mean of the family means of each model, observed and resampled, shape (models, 1 + resamples)."""
    models = list(outcomes)
    sums = [GroupSum(len(models), resamples, tasks=group.tasks) for group in family_groups(suite)]
    for task, having, values in task_replicates(suite, outcomes, models, resamples=resamples):
        for total in sums:
            total.add(task, having, values)
    return np.stack([overall_means(sums, number) for number in range(len(models))])

"""Which of two models is better, and where: paired differences over the tasks that both have a score for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.errors import ResultInvalid
from evaluation.statistics.bootstrap import RESAMPLES, FloatArray
from evaluation.statistics.intervals import Difference, difference
from evaluation.suites.medheb.board import TASK_SCOPE
from evaluation.suites.medheb.groupings import suite_groups
from evaluation.suites.medheb.score_sums import GroupSum, check_comparable, overall_means, task_replicates
from evaluation.types import RankOutcomes, SuiteSpec
from evaluation.vocabulary import AggregateScope

_BOTH = ["a", "b"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Hit@1 of both models in one group, over the same `n_tasks` of its `n_expected` tasks, and the difference A - B.

    `better` is "a" or "b" where the interval of the difference excludes zero, and empty where nothing is shown.
    """

    scope: str
    key: str
    a: float
    b: float
    difference: Difference
    n_tasks: int
    n_expected: int

    @property
    def better(self) -> str:
        """The model that is shown to be better, if one is."""
        if not self.difference.is_separated:
            return ""
        return "a" if self.difference.value > 0 else "b"


def compare_models(
    suite: SuiteSpec,
    a: Mapping[str, RankOutcomes],
    b: Mapping[str, RankOutcomes],
    *,
    resamples: int = RESAMPLES,
) -> tuple[Comparison, ...]:
    """Differences overall, in every group and in every task that both have; groups without such a task are left out.

    Raises:
        TaskUnknown: there is a task that the suite does not have.
        ResultInvalid: the models have no task in common, or different queries or pools in one.
    """
    shared = {name: ranks for name, ranks in a.items() if name in b}
    if not shared:
        raise ResultInvalid("The two results have no scored task in common, so there is nothing to compare.")
    outcomes = {"a": shared, "b": {name: b[name] for name in shared}}
    check_comparable(suite, outcomes)
    groups = [group for group in suite_groups(suite) if any(name in shared for name in group.tasks)]
    sums = [GroupSum(len(_BOTH), resamples, tasks=group.tasks) for group in groups]
    tasks = []
    for task, models, values in task_replicates(suite, outcomes, _BOTH, resamples=resamples):
        for total in sums:
            total.add(task, models, values)
        tasks.append(_comparison(TASK_SCOPE, task, values, n_tasks=1, n_expected=1))
    by_group = [
        _comparison(group.scope, group.key, _means(total), n_tasks=int(total.counts[0]), n_expected=total.n_expected)
        for group, total in zip(groups, sums, strict=True)
    ]
    families = [total for group, total in zip(groups, sums, strict=True) if group.scope is AggregateScope.FAMILY]
    overall = np.stack([overall_means(families, model) for model in range(len(_BOTH))])
    scope = AggregateScope.OVERALL
    whole = _comparison(scope, scope.value, overall, n_tasks=len(shared), n_expected=len(suite.tasks))
    return (whole, *by_group, *tasks)


def _means(total: GroupSum) -> FloatArray:
    return np.stack([total.means(0), total.means(1)])


def _comparison(scope: str, key: str, means: FloatArray, *, n_tasks: int, n_expected: int) -> Comparison:
    return Comparison(
        scope=str(scope),
        key=key,
        a=float(means[0, 0]),
        b=float(means[1, 0]),
        difference=difference(means[0], means[1]),
        n_tasks=n_tasks,
        n_expected=n_expected,
    )

"""Means without contaminated cells, for ranking a board once more on what its models were not trained on."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class CleanMean:
    """The mean of the family means over a model's cells that are not contaminated.

    `value` is in [0, 1], None where a family has no cell left: then the model cannot be ranked beside others. `n_tasks`
    counts the cells that it covers, `n_excluded` those left out.
    """

    value: float | None
    n_tasks: int
    n_excluded: int


def clean_mean(scores: Mapping[int, float], *, families: Mapping[int, str], contaminated: Collection[int]) -> CleanMean:
    """Take a model's mean without its contaminated cells.

    Args:
        scores: Hit@1 in [0, 1] by the id of the task, of every task that was evaluated.
        families: the family of every task of the suite, by id. A family counts as long as the suite has it.
        contaminated: ids of tasks, as of `leaderboard.selectors.training_data.contaminated_tasks`.
    """
    excluded = set(contaminated) & scores.keys()
    by_family: dict[str, list[float]] = {family: [] for family in families.values()}
    for task, value in scores.items():
        if task not in excluded:
            by_family[families[task]].append(value)
    is_whole = bool(by_family) and all(by_family.values())
    return CleanMean(
        value=fmean(fmean(values) for values in by_family.values()) if is_whole else None,
        n_tasks=len(scores) - len(excluded),
        n_excluded=len(excluded),
    )

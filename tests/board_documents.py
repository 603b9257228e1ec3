"""Statistics of a retrieval suite for tests of pages: from the scores that runs have, without any resampling."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.models import BoardSnapshot, Run, Score, Suite, Task
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope
from leaderboard.selectors.board_making import keys_of
from leaderboard.selectors.catalogue import LISTED
from leaderboard.services.snapshots import snapshot_store

HALF_WIDTH = 0.02


def store_statistics(suite: Suite, *, half_width: float = HALF_WIDTH) -> BoardSnapshot:
    """Make the statistics of all listed runs the current ones; ranks are sure, and equal means share a tie group."""
    runs = list(Run.objects.filter(LISTED, suite=suite).order_by("published_at"))
    tasks = list(suite.tasks.filter(is_installed=True).order_by("position"))
    hits: dict[str, dict[str, float]] = {str(run.pk): {} for run in runs}
    for score in Score.objects.filter(is_main=True, task_run__run__in=runs).select_related("task_run__task"):
        hits[str(score.task_run.run_id)][score.task_run.task.name] = score.value
    families = _members(tasks, AggregateScope.FAMILY)
    groups = [
        {"scope": scope.value, "key": key, "n_expected": len(members)}
        | {"standings": _standings({run: _mean(own, members) for run, own in hits.items()}, hits, members, half_width)}
        for scope in CHOICES_OF
        for key, members in _members(tasks, scope).items()
    ]
    means = {run: _mean_of_means(own, list(families.values())) for run, own in hits.items()}
    names = [task.name for task in tasks]
    groups.append(
        {"scope": "overall", "key": "overall", "n_expected": len(tasks)}
        | {"standings": _standings(means, hits, names, half_width / 2)}
    )
    document = {
        "resamples": 0,
        "baselines": [],
        "groups": groups,
        "analyses": [
            {"analysis": "cv", "model": run, "value": _cv(own, list(families.values())), "lower": None, "upper": None}
            for run, own in hits.items()
            if set(own) >= set(names)
        ],
        "buckets": [],
    }
    return snapshot_store(
        suite_id=suite.pk,
        content=document,
        run_ids=[run.pk for run in runs],
        tasks=names,
        differences={"models": [], "rows": []},
        left_out={},
    )


def _members(tasks: Sequence[Task], scope: AggregateScope) -> dict[str, list[str]]:
    found = {key: [task.name for task in tasks if key in keys_of(task, scope)] for key in CHOICES_OF[scope].values}
    return {key: members for key, members in found.items() if members}


def _mean(hits: Mapping[str, float], members: Sequence[str]) -> float | None:
    values = [hits[name] for name in members if name in hits]
    return float(np.mean(values)) if values else None


def _mean_of_means(hits: Mapping[str, float], groups: Sequence[Sequence[str]]) -> float | None:
    means = [mean for members in groups if (mean := _mean(hits, members)) is not None]
    return float(np.mean(means)) if means else None


def _cv(hits: Mapping[str, float], groups: Sequence[Sequence[str]]) -> float:
    means = [_mean(hits, members) for members in groups]
    return float(np.std(means) / np.mean(means)) if np.mean(means) else 0.0


def _standings(
    means: Mapping[str, float | None],
    hits: Mapping[str, Mapping[str, float]],
    members: Sequence[str],
    half_width: float,
) -> list[dict[str, Any]]:
    complete = {
        run: round(mean, 9) for run, mean in means.items() if mean is not None and set(hits[run]) >= set(members)
    }
    found = []
    for run, mean in means.items():
        if mean is None:
            continue
        rank = 1 + sum(other > complete[run] for other in complete.values()) if run in complete else None
        interval = {"lower": max(0.0, mean - half_width), "upper": min(1.0, mean + half_width)}
        count = sum(name in hits[run] for name in members)
        ranks = {"rank": rank, "rank_lower": rank, "rank_upper": rank, "tie_group": rank}
        found.append({"model": run, "value": mean, "n_tasks": count, **interval, **ranks})
    return sorted(found, key=lambda one: (one["rank"] is None, one["rank"] or 0))

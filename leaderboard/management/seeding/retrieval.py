"""An invented retrieval suite with scores and the statistics that a board reads."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leaderboard.management.seeding.models import DrawnModels, draw_runs
from leaderboard.management.seeding.results import DrawnScores, store_results
from leaderboard.models import Run, Suite, Task
from leaderboard.models.vocabulary import (
    CHOICES_OF,
    AggregateScope,
    Domain,
    EvidenceForm,
    Family,
    Granularity,
    PairingType,
    Split,
)
from leaderboard.selectors.board_making import keys_of
from leaderboard.services.snapshots import snapshot_store

SLUG, TITLE = "load-retrieval", "Load test, retrieval (invented)"
N_TASKS = 107
SURE = 1.96
"""Standard deviations on either side of a 95% interval."""
PAIRINGS = {
    Family.IMAGE_TO_IMAGE: PairingType.IMAGE_IMAGE,
    Family.TEXT_TO_TEXT: PairingType.TEXT_TEXT,
    Family.MODALITY_BRIDGING: PairingType.MODALITY_BRIDGING,
}
GRANULARITIES = {
    Family.QUESTION_ANSWERING: Granularity.QUESTION_CONDITIONED,
    Family.REGION_GROUNDING: Granularity.REGION_LEVEL,
}


def seed_retrieval(models: DrawnModels, *, random: np.random.Generator) -> Suite:
    """Store the suite, a published run of each model, and the boards."""
    suite = Suite.objects.create(slug=SLUG, version="1", title=TITLE, synthetic=True)
    tasks = Task.objects.bulk_create(_task(suite, position, random) for position in range(N_TASKS))
    scores = _scores(models, tasks, random)
    runs = draw_runs(models, suite, random=random)
    store_results(runs, tasks, scores, decades=models.decades, metric="hit@1")
    snapshot_store(
        suite_id=suite.pk,
        content=_document(runs, tasks, scores),
        run_ids=[run.pk for run in runs],
        tasks=[task.name for task in tasks],
        differences={"models": [], "rows": []},
        left_out={},
    )
    return suite


def _task(suite: Suite, position: int, random: np.random.Generator) -> Task:
    family = list(Family)[position % len(Family)]
    form = EvidenceForm.TEXT if family == Family.TEXT_TO_TEXT else list(EvidenceForm)[position // 8 % 2]
    return Task(
        suite=suite,
        name=f"Drawn{position:03}",
        title=f"Drawn task {position + 1}",
        position=position,
        family=family,
        domain=list(Domain)[position // 3 % len(Domain)],
        evidence_form=form,
        pairing_type=PAIRINGS.get(family, PairingType.IMAGE_TEXT),
        granularity=GRANULARITIES.get(family, Granularity.GLOBAL_LABEL),
        split=list(Split)[int(position % 5 == 0)],
        pool="local",
        parser="drawn",
        datasets=["drawn"],
        data_group=f"drawn-{position}",
        relevance_rule="None: the scores are drawn.",
        licence="CC0-1.0",
        images_may_be_shown=False,
        spec_sha256=f"{position:064x}",
        is_installed=True,
        n_queries=int(random.integers(200, 3000)),
        chance=float(random.choice([0.01, 0.05, 0.1, 0.25, 0.5])),
    )


def _scores(models: DrawnModels, tasks: Sequence[Task], random: np.random.Generator) -> DrawnScores:
    shape = (len(models.revisions), len(tasks))
    logits = models.ability[:, None] - random.normal(0.9, 0.8, shape[1]) + random.normal(0, 0.35, shape)
    chance = np.array([task.chance for task in tasks])
    value = chance + (1 - chance) / (1 + np.exp(-logits))
    queries = np.array([task.n_queries for task in tasks])
    half = SURE * np.sqrt(value * (1 - value) / queries)
    value[np.ix_(models.reads_text_only, [task.evidence_form != EvidenceForm.TEXT for task in tasks])] = np.nan
    return DrawnScores(value, np.clip(value - half, 0, 1), np.clip(value + half, 0, 1))


def _document(runs: Sequence[Run], tasks: Sequence[Task], scores: DrawnScores) -> dict[str, Any]:
    """Standings in every group; intervals of means follow from those of the tasks as if these were independent."""
    half = (scores.upper - scores.lower) / 2
    groups, families = [], []
    for scope in CHOICES_OF:
        for key, columns in _members(tasks, scope).items():
            value = _mean(scores.value[:, columns])
            spread = np.sqrt(np.nansum(half[:, columns] ** 2, axis=1)) / len(columns)
            count = np.isfinite(scores.value[:, columns]).sum(axis=1)
            groups.append(_group(scope.value, key, runs, (value, spread, count), len(columns)))
            if scope == AggregateScope.FAMILY:
                families.append((value, spread))
    means, spreads = (np.array(parts) for parts in zip(*families, strict=True))
    overall = _mean(means.T)
    spread = np.sqrt(np.nansum(spreads**2, axis=0)) / len(families)
    count = np.isfinite(scores.value).sum(axis=1)
    groups.append(_group(AggregateScope.OVERALL.value, "overall", runs, (overall, spread, count), len(tasks)))
    variation = np.std(means, axis=0) / overall
    return {
        "resamples": 0,
        "baselines": [],
        "groups": groups,
        "analyses": [
            {"analysis": "cv", "model": str(run.pk), "value": float(value), "lower": None, "upper": None}
            for run, value in zip(runs, variation, strict=True)
            if np.isfinite(value)
        ],
        "buckets": [],
    }


def _members(tasks: Sequence[Task], scope: AggregateScope) -> dict[str, list[int]]:
    found = {
        key: [column for column, task in enumerate(tasks) if key in keys_of(task, scope)]
        for key in CHOICES_OF[scope].values
    }
    return {key: columns for key, columns in found.items() if columns}


def _mean(values: np.ndarray) -> np.ndarray:
    """The mean of each row over what there is of it; not a number where there is nothing."""
    known = np.isfinite(values)
    return np.where(known.any(axis=1), np.nansum(values, axis=1) / np.maximum(known.sum(axis=1), 1), np.nan)


def _group(
    scope: str, key: str, runs: Sequence[Run], numbers: tuple[np.ndarray, np.ndarray, np.ndarray], n_expected: int
) -> dict[str, Any]:
    value, half, count = numbers
    lower, upper = np.clip(value - half, 0, 1), np.clip(value + half, 0, 1)
    complete = [int(row) for row in np.argsort(-value) if count[row] == n_expected]
    ranks = standing_ranks(value[complete], lower[complete], upper[complete])
    of_row = dict(zip(complete, ranks, strict=True))
    partial = [row for row in range(len(runs)) if 0 < count[row] < n_expected]
    unranked: Mapping[str, Any] = dict.fromkeys(("rank", "rank_lower", "rank_upper", "tie_group"))
    standings = [
        {
            "model": str(runs[row].pk), "value": float(value[row]), "lower": float(lower[row]),
            "upper": float(upper[row]), "n_tasks": int(count[row]), **of_row.get(row, unranked),
        }
        for row in [*complete, *partial]
    ]  # fmt: skip
    return {"scope": scope, "key": key, "n_expected": n_expected, "standings": standings}


def standing_ranks(value: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> list[dict[str, int]]:
    """Ranks of values that fall, with those that overlapping intervals allow; who reaches a group's best is in it."""
    best_possible = 1 + (lower[None, :] > upper[:, None]).sum(axis=1)
    worst_possible = (upper[None, :] >= lower[:, None]).sum(axis=1)
    found, first = [], 0
    for place in range(len(value)):
        if upper[place] < lower[first]:
            first = place
        found.append(
            {
                "rank": place + 1,
                "rank_lower": int(min(best_possible[place], place + 1)),
                "rank_upper": int(max(worst_possible[place], place + 1)),
                "tie_group": first + 1,
            }
        )
    return found

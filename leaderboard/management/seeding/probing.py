"""An invented probing suite with scores and the statistics that its boards read."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from leaderboard.management.seeding.models import DrawnModels, draw_runs
from leaderboard.management.seeding.results import DrawnScores, store_results
from leaderboard.management.seeding.retrieval import standing_ranks
from leaderboard.models import Run, Suite, Task
from leaderboard.models.vocabulary import (
    AnchorSelection,
    CellClass,
    Level,
    Modality,
    NegationSubtype,
    PhrasingStyle,
    SuiteKind,
    TaskKind,
)
from leaderboard.services.snapshots import snapshot_store

SLUG, TITLE = "load-probing", "Load test, probing (invented)"
N_TASKS = 150
DATASET = "drawn"
ANCHORS, CLUSTERS = 300, 280
BOUNDARY = 0.05
HALF_WIDTH = 0.015
HARDER_BY_LEVEL = {Level.L1: 0.0, Level.L2: 0.08, Level.L3: 0.16, Level.L4: 0.24, Level.L5: 0.32}
OTHER_TABLES = (
    "styles", "negation", "subgroups", "subgroup_gaps", "missing_attributes", "sample_size", "closed_questions",
    "protocols", "agreements", "checks", "blind_baselines",
)  # fmt: skip


def seed_probing(models: DrawnModels, *, random: np.random.Generator) -> Suite:
    """Store the suite, a published run of each model, and the boards."""
    suite = Suite.objects.create(slug=SLUG, version="1", title=TITLE, synthetic=True, kind=SuiteKind.PROBING)
    tasks = Task.objects.bulk_create(_task(suite, position, facts) for position, facts in enumerate(_cells()))
    scores = _scores(models, tasks, random)
    runs = draw_runs(models, suite, random=random)
    store_results(runs, tasks, scores, decades=models.decades, metric="ds")
    snapshot_store(
        suite_id=suite.pk,
        content=_document(runs, tasks, scores),
        run_ids=[run.pk for run in runs],
        tasks=[task.name for task in tasks],
        differences={},
        left_out={},
    )
    return suite


Facts = tuple[Modality, Level, PhrasingStyle, str, AnchorSelection]


def _cells() -> list[Facts]:
    """The main cells of every modality, then as many others as the suite has room for."""
    return [*_main_cells(), *_other_cells()][:N_TASKS]


def _main_cells() -> Iterator[Facts]:
    for modality in Modality:
        for level in Level:
            is_negation = level == Level.L5
            subtype = NegationSubtype.MIXED if is_negation else ""
            selection = AnchorSelection.FINDING if is_negation else AnchorSelection.ALL
            yield modality, level, PhrasingStyle.TEMPLATE, subtype, selection


def _other_cells() -> Iterator[Facts]:
    for modality in Modality:
        yield modality, Level.L5, PhrasingStyle.TEMPLATE, NegationSubtype.MIXED, AnchorSelection.NO_FINDING
        for subtype in list(NegationSubtype)[1:]:
            yield modality, Level.L5, PhrasingStyle.TEMPLATE, subtype, AnchorSelection.FINDING
        for level in list(Level)[:-1]:
            for style in list(PhrasingStyle)[1:]:
                yield modality, level, style, "", AnchorSelection.ALL


def _task(suite: Suite, position: int, facts: Facts) -> Task:
    modality, level, style, subtype, selection = facts
    return Task(
        suite=suite,
        name=f"{modality}.{level}.{style}.{subtype or 'plain'}.{selection}",
        title=f"{modality.label}, {level.label}",
        position=position,
        kind=TaskKind.CELL,
        modality=modality,
        level=level,
        style=style,
        subtype=subtype,
        selection=selection,
        datasets=[DATASET],
        data_group=modality,
        licence="CC0-1.0",
        images_may_be_shown=False,
        spec_sha256=f"{position:064x}",
        is_installed=True,
        n_queries=ANCHORS,
    )


def _scores(models: DrawnModels, tasks: Sequence[Task], random: np.random.Generator) -> DrawnScores:
    shape = (len(models.revisions), len(tasks))
    harder = np.array([HARDER_BY_LEVEL[Level(task.level)] for task in tasks])
    value = np.clip(0.3 + 0.1 * models.ability[:, None] - harder + random.normal(0, 0.05, shape), -1, 1)
    return DrawnScores(value, value - HALF_WIDTH, value + HALF_WIDTH)


def _document(runs: Sequence[Run], tasks: Sequence[Task], scores: DrawnScores) -> dict[str, Any]:
    cells = [cell for column, task in enumerate(tasks) for cell in _task_cells(runs, task, column, scores)]
    return {
        "resamples": 0,
        "seed": 0,
        "models": [str(run.pk) for run in runs],
        "style_summary": {
            "n_cells": 0, "n_collapsing": 0, "n_staying_below": 0, "sd_lowest": None, "sd_median": None,
            "sd_highest": None,
        },
        "cells": cells,
        "ceilings": list(_ceilings(runs, tasks, scores)),
        **{name: [] for name in OTHER_TABLES},
    }  # fmt: skip


def _task_cells(runs: Sequence[Run], task: Task, column: int, scores: DrawnScores) -> Iterator[dict[str, Any]]:
    value, lower, upper = scores.value[:, column], scores.lower[:, column], scores.upper[:, column]
    order = np.argsort(-value)
    ranks = standing_ranks(value[order], lower[order], upper[order])
    for row, rank in zip(order, ranks, strict=True):
        ds = float(value[row])
        yield {
            "model": str(runs[row].pk), "task": task.name, "modality": task.modality, "dataset": DATASET,
            "level": task.level, "style": task.style, "subtype": task.subtype or None, "selection": task.selection,
            "ds": ds, "lower": float(lower[row]), "upper": float(upper[row]), "cell_class": _class(ds),
            "failure_rate": 0.3, "pass_rate_adjusted": 0.3, "ds_size_matched": ds, "ds_scaled": ds * 5,
            "n_anchors": ANCHORS, "n_clusters": CLUSTERS, "n_negatives_min": 8, "n_negatives_max": 10, **rank,
        }  # fmt: skip


def _class(ds: float) -> str:
    if ds + HALF_WIDTH < 0:
        return CellClass.COLLAPSE_CERTAIN.value
    if ds <= 0:
        return CellClass.COLLAPSE.value
    return (CellClass.DISCRIMINATES if ds >= BOUNDARY else CellClass.NEAR_CHANCE).value


def _ceilings(runs: Sequence[Run], tasks: Sequence[Task], scores: DrawnScores) -> Iterator[dict[str, Any]]:
    n_main = len(list(_main_cells()))
    for modality in Modality:
        columns = [column for column in range(n_main) if tasks[column].modality == modality]
        levels = [tasks[column].level for column in columns]
        for row, run in enumerate(runs):
            collapsed = [level for level, column in zip(levels, columns, strict=True) if scores.value[row, column] <= 0]
            yield {
                "model": str(run.pk), "modality": modality.value, "dataset": DATASET,
                "ceiling": collapsed[0] if collapsed else None, "levels": levels,
            }  # fmt: skip

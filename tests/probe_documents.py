"""A probing suite in the database with published runs and the statistics of a hand-made board."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from evaluation.suites.medtec.board import ProbeBoard, probe_board_from_json, probe_board_to_json
from evaluation.suites.medtec.board_rows import (
    BlindBaseline,
    Ceiling,
    ClosedQuestions,
    MissingAttribute,
    NegationCount,
    ProbeCell,
    ProbeCheck,
    ProtocolAgreement,
    ProtocolStanding,
    SampleSize,
    StyleSpread,
    StyleSummary,
    Subgroup,
    SubgroupGap,
)
from leaderboard.models import Run, Suite
from leaderboard.models.vocabulary import RunState, TaskRunState
from leaderboard.services.snapshots import snapshot_store
from tests.factories import make_cell, make_revision, make_run

LEVELS = ("L1", "L2", "L3", "L4", "L5")
SCORES: Mapping[str, Mapping[str, Sequence[float]]] = {
    "lab/reader": {"chest_radiograph": (0.4, 0.3, 0.2, 0.12, -0.01), "fundus": (0.35, 0.25, 0.04, -0.2, -0.3)},
    "lab/specialist": {"chest_radiograph": (-0.08, 0.02, 0.1, 0.21, -0.167), "fundus": (-0.2, -0.1, 0.0, -0.2, -0.2)},
    "lab/firm": {"chest_radiograph": (0.5, 0.4, 0.3, 0.2, 0.1), "fundus": (0.2, 0.2, 0.2, 0.2, 0.2)},
}
"""Mean DS by model and modality, one a level."""
HALF_WIDTH = 0.015
NAMES = tuple(SCORES)


def make_probing_suite(*, synthetic: bool = False, slug: str = "medtec-test") -> Suite:
    """A suite with a main cell for each level of two modalities, and yes/no questions."""
    suite = Suite.objects.create(slug=slug, version="1", title="Probes for tests", kind="probing", synthetic=synthetic)
    position = 0
    for modality in ("chest_radiograph", "fundus"):
        for level in LEVELS:
            make_cell(
                suite,
                position=position,
                name=f"{modality}.{level}",
                title=f"{modality} {level}",
                modality=modality,
                level=level,
                subtype="mixed" if level == "L5" else "",
                selection="finding" if level == "L5" else "all",
                data_group=modality,
                n_queries=40,
            )
            position += 1
    make_cell(
        suite, position=position, name="vqa_rad.closed_questions", kind="closed_questions", chance=0.5, n_queries=20,
        modality="", level="", style="", selection="", title="Yes/no questions",
    )  # fmt: skip
    return suite


def publish(suite: Suite, repo_id: str) -> Run:
    """A published run whose tasks all have a result."""
    run = make_run(revision=make_revision(repo_id), suite=suite, state=RunState.SUCCEEDED)
    run.is_published, run.published_at = True, timezone.now()
    run.save()
    for task_run in run.task_runs.select_related("task"):
        task_run.state, task_run.finished_at = TaskRunState.SUCCEEDED, timezone.now()
        task_run.outcomes, task_run.n_queries = b"arrays", task_run.task.n_queries
        task_run.save()
    return run


def cell_class(ds: float) -> str:
    """The class of a score whose interval is `HALF_WIDTH` to either side."""
    if ds + HALF_WIDTH < 0:
        return "collapse_certain"
    if ds <= 0:
        return "collapse"
    return "discriminates" if ds >= 0.05 and ds > HALF_WIDTH else "near_chance"


def cell(model: str, modality: str, level: str, ds: float, **facts: Any) -> ProbeCell:
    """A main cell, unless `facts` say otherwise."""
    defaults: dict[str, Any] = {
        "model": model, "task": f"{modality}.{level}", "modality": modality, "dataset": "made_up", "level": level,
        "style": "template", "subtype": "mixed" if level == "L5" else None,
        "selection": "finding" if level == "L5" else "all", "ds": ds, "lower": ds - HALF_WIDTH,
        "upper": ds + HALF_WIDTH, "cell_class": cell_class(ds), "failure_rate": 0.25, "pass_rate_adjusted": 0.4,
        "ds_size_matched": ds + 0.02, "ds_scaled": ds * 5, "n_anchors": 40, "n_clusters": 38, "n_negatives_min": 8,
        "n_negatives_max": 10, "rank": 1, "rank_lower": 1, "rank_upper": 2, "tie_group": 1,
    }  # fmt: skip
    return ProbeCell(**{**defaults, **facts})


def board_of(runs: Mapping[str, str], **tables: Any) -> ProbeBoard:
    """The board of `SCORES`; `runs` gives the id of each model's run, `tables` replace tables of the board."""
    cells, ceilings = [], []
    for name, run in runs.items():
        for modality, scores in SCORES[name].items():
            cells += [cell(run, modality, level, ds) for level, ds in zip(LEVELS, scores, strict=True)]
            first = next((level for level, ds in zip(LEVELS, scores, strict=True) if ds <= 0), None)
            ceilings.append(Ceiling(run, modality, "made_up", first, LEVELS))
    first_run = next(iter(runs.values()))
    cells.append(
        cell(first_run, "chest_radiograph", "L5", -0.222, task="chest_radiograph.L5.no_finding", selection="no_finding")
    )
    cells.append(cell(first_run, "chest_radiograph", "L5", 0.011, task="chest_radiograph.L5.hedged", subtype="hedged"))
    cells.append(cell(first_run, "chest_radiograph", "L4", 0.099, task="chest_radiograph.L4.report", style="report"))
    facts: dict[str, Any] = {
        "suite": "medtec-test", "version": "1", "suite_sha256": "a" * 64, "seed": 42, "resamples": 10_000,
        "models": tuple(runs.values()), "left_out": (), "cells": tuple(cells), "ceilings": tuple(ceilings),
        "styles": (
            StyleSpread(first_run, "chest_radiograph", "made_up", "L4", ("template", "report"), 0.031, 0.05, 0.12,
                        collapses_under_template=False, stays_below=False),
            StyleSpread(first_run, "fundus", "made_up", "L4", ("template", "report"), 0.017, -0.2, -0.15,
                        collapses_under_template=True, stays_below=True),
        ),
        "style_summary": StyleSummary(2, 1, 1, 0.017, 0.024, 0.031),
        "negation": (
            NegationCount("definite", False, 6, 3, 4, -0.05), NegationCount("hedged", True, 6, 5, 5, -0.101),
        ),
        "subgroups": (
            Subgroup(first_run, "fundus", "made_up", "L4", "sex", "female", -0.21, -0.3, -0.12, "collapse_certain", 17, 17),
            Subgroup(first_run, "fundus", "made_up", "L4", "sex", "male", -0.18, -0.25, -0.11, "collapse_certain", 23, 22),
        ),
        "subgroup_gaps": (
            SubgroupGap(first_run, "fundus", "made_up", "L4", "sex", "female", "male", -0.03, -0.08, 0.02, False, 17, 23),
        ),
        "missing_attributes": (MissingAttribute("fundus", "made_up", "sex", 3, 40),),
        "sample_size": (
            SampleSize(first_run, "fundus", "made_up", "L4", 100, -0.201, -0.24, -0.16, 0.08, "collapse_certain"),
        ),
        "closed_questions": tuple(
            ClosedQuestions(run, "vqa_rad.closed_questions", "vqa_rad", 0.5 + number / 50, 0.47 + number / 50,
                            0.53 + number / 50, 0.31, number > 1, 1100, 540, 560, 2, 91)
            for number, run in enumerate(runs.values())
        ),
        "protocols": tuple(
            ProtocolStanding("chest_radiograph", True, protocol, f"chest_radiograph.{protocol}", metric, run, 0.5, rank)
            for protocol, metric, ranks in (
                ("retrieval", "image_to_text_recall@10", (1, 2, 3)),
                ("zero_shot", "auroc", (2, 1, 3)),
                ("probing", "ds", (3, 2, 1)),
            )
            for run, rank in zip(runs.values(), ranks, strict=False)
        ),
        "agreements": (
            ProtocolAgreement("chest_radiograph", True, "retrieval", "zero_shot", 1 / 3, -0.33, 1.0, 3),
            ProtocolAgreement("chest_radiograph", True, "retrieval", "probing", -1.0, -1.0, -0.33, 3),
        ),
        "checks": (ProbeCheck("fundus", "L4", "template", None, "all", 24, 4, 6, 8, 0.2, 2.0, 1.5, 11, 62, 44, 0),),
        "blind_baselines": (
            BlindBaseline(first_run, "fundus.L4", "fundus", "L4", "blank", -0.021, -0.03, 0.12),
        ),
    }  # fmt: skip
    return ProbeBoard(**{**facts, **tables})


def store_board(suite: Suite, runs: Mapping[str, Run], **tables: Any) -> dict[str, Any]:
    """Make the board of these runs the current statistics of a suite; its document, which keeps the schema."""
    document = probe_board_to_json(board_of({name: str(run.pk) for name, run in runs.items()}, **tables))
    probe_board_from_json(document)
    snapshot_store(
        suite_id=suite.pk,
        content=document,
        run_ids=[run.pk for run in runs.values()],
        tasks=list(suite.tasks.values_list("name", flat=True)),
        differences={},
        left_out={},
    )
    return document

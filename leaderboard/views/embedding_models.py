"""The page of one embedding model: facts, published scores, revisions with their runs, and where the scores come from."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify

from leaderboard.models.vocabulary import AggregateScope, Split, SuiteKind
from leaderboard.selectors.board_rows import BoardRow, GroupScore
from leaderboard.selectors.board_tables import StoredBoard, stored_boards
from leaderboard.selectors.catalogue import SuiteSummary
from leaderboard.selectors.embedding_models import PublishedRun, Revision, RunSummary, published_run
from leaderboard.selectors.snapshots import Analysis, BoardContent, snapshot_content
from leaderboard.selectors.training_data import trained_on
from leaderboard.views import figures
from leaderboard.views.analysis_words import ANALYSES, AnalysisWords
from leaderboard.views.axes import CHOICES_OF
from leaderboard.views.boards import OVERALL, Tab
from leaderboard.views.citations import bibtex
from leaderboard.views.family_profiles import run_profile
from leaderboard.views.model_results import ModelResults, model_results
from leaderboard.views.model_sheets import analysis_sheet, group_sheet, task_sheet
from leaderboard.views.probe_models import probing_page
from leaderboard.views.provenance import environment_facts, pretty, reproduction
from leaderboard.views.sheets import sorted_sheet
from leaderboard.views.tables import Table, download, table

MAIN_AXES = 2
"""Families and domains; the tables of the other axes are folded away."""
HELD_OUT_GAP = "held_out_gap"


@dataclass(frozen=True, slots=True)
class RevisionRuns:
    """A revision with its runs, the newest first."""

    revision: Revision
    runs: tuple[RunSummary, ...]


@dataclass(frozen=True, slots=True)
class SplitGap:
    """The means of both splits and their difference, in words."""

    in_distribution: str
    held_out: str
    gap: str


def detail(request: HttpRequest, repo_id: str) -> HttpResponse:
    """A model's page, opened at the published run that `suite` and `revision` in the address choose."""
    results = model_results(request, repo_id)
    model, chosen = results.model, results.chosen
    if model.repo_id != repo_id:
        return redirect("model-detail", repo_id=model.repo_id)
    context: dict[str, Any] = {
        "section": "boards",
        "model": model,
        "hub_address": _hub_address(model.repo_id),
        "revisions": _revisions(results.history),
        "run_tabs": _run_tabs(request, results),
    }
    if chosen is None:
        return render(request, "models/model.html", context)
    suite = results.suite()
    run = published_run(run_id=chosen.run_id)
    trained = trained_on(revision_id=run.model.revision_id, model_id=model.pk, suite_id=suite.pk)
    on_tasks = frozenset(task for one in trained for task in one.tasks)
    context |= {"chosen": chosen, "suite": suite, "run": run, "trained": trained}
    context["is_probing"] = suite.kind == SuiteKind.PROBING
    context |= _provenance(request, results, suite, run)
    if context["is_probing"]:
        return probing_page(request, context, trained=on_tasks)
    stored = stored_boards(suite, [OVERALL])[OVERALL]
    content = None if stored.currency.snapshot_id is None else snapshot_content(stored.currency.snapshot_id)
    groups = _group_tables(request, suite, run, content, trained=on_tasks)
    analyses = table("analyses", analysis_sheet(_analyses(run, content)), request=request)
    tasks = _task_table(request, suite, run, content, trained=on_tasks)
    stem = f"medboard-{suite.slug}-{suite.version}-{slugify(model.repo_id)}"
    if file := download(request, [tasks, *(shown for _, shown in groups), analyses], stem=stem):
        return file
    context |= _results(run, stored)
    context |= {
        "split_gap": _split_gap(run, content),
        "profile_address": _picture("model-profile", chosen, model.repo_id),
        "tasks": tasks,
        "analyses": analyses,
        "main_tables": groups[:MAIN_AXES],
        "other_tables": groups[MAIN_AXES:],
    }
    return render(request, "models/model.html", context)


def _hub_address(repo_id: str) -> str:
    return f"{settings.HUB_ENDPOINT}/{quote(repo_id)}"


def _revisions(history: tuple[RunSummary, ...]) -> list[RevisionRuns]:
    """The revisions by their newest run."""
    runs: dict[Revision, list[RunSummary]] = {}
    for run in history:
        runs.setdefault(run.revision, []).append(run)
    return [RevisionRuns(revision, tuple(found)) for revision, found in runs.items()]


def _run_tabs(request: HttpRequest, results: ModelResults) -> list[Tab]:
    return [
        Tab(
            f"{run.suite_title} {run.suite_version} · {run.revision.title}",
            f"{request.path}{_state(run)}",
            is_current=run is results.chosen,
        )
        for run in results.published
    ]


def _state(run: RunSummary) -> str:
    """The part of an address that opens a model's page at this run."""
    return f"?suite={run.suite_slug}&revision={run.revision.pk}"


def _picture(name: str, run: RunSummary, repo_id: str) -> str:
    return f"{reverse(name, args=[repo_id])}{_state(run)}"


def _provenance(request: HttpRequest, results: ModelResults, suite: SuiteSummary, run: PublishedRun) -> dict[str, Any]:
    """Where the numbers of a run come from, how to make them again, and how to quote them."""
    model = results.model
    here = request.build_absolute_uri(f"{request.path}{_state(results.chosen)}")
    badge = request.build_absolute_uri(_picture("model-badge", results.chosen, model.repo_id))
    return {
        "encode_config": pretty(run.description.get("encode_config", {})),
        "environment": pretty(run.environment),
        "environment_facts": environment_facts(run.environment, run.description),
        "command": reproduction(model.repo_id, run, suite),
        "badge_path": _picture("model-badge", results.chosen, model.repo_id),
        "badge_code": f"[![MedBoard]({badge})]({here})",
        "citation": bibtex(
            run,
            suite,
            model_address=_hub_address(model.repo_id),
            result_address=here,
            board=request.build_absolute_uri(reverse("board-overall")),
        ),
    }


def _results(run: PublishedRun, stored: StoredBoard) -> dict[str, Any]:
    """How the run stands on the stored board, which does not have it for a minute or two after it is published."""
    board = stored.board
    row = board.row_of(run.model.run_id)
    return {
        "row": row,
        "rank": rank_words(row) if row else "",
        "statistics": stored.currency,
        "n_ranked": board.n_ranked,
        "profile": run_profile(run, board),
        "failed": [task for task in run.tasks if task.score is None],
    }


def rank_words(row: BoardRow) -> str:
    """A row's rank with its interval; empty where it has none."""
    if row.standing is None or row.standing.rank is None:
        return "" if row.rank is None else str(row.rank)
    return figures.rank_interval(row.standing.rank_lower, row.standing.rank_upper)


def _group_tables(
    request: HttpRequest,
    suite: SuiteSummary,
    run: PublishedRun,
    content: BoardContent | None,
    *,
    trained: Collection[str],
) -> list[tuple[str, Table]]:
    """The run's means on every axis that it has any on, families and domains first."""
    return [
        (
            scope.label,
            table(
                scope.value,
                group_sheet(
                    run.groups[scope.value],
                    scope=scope,
                    suite=suite.slug,
                    run_id=run.model.run_id,
                    content=content,
                    trained=_trained_by_group(run, scope, trained),
                ),
                request=request,
            ),
        )
        for scope in CHOICES_OF
        if run.groups[scope.value]
    ]


def _trained_by_group(run: PublishedRun, scope: AggregateScope, trained: Collection[str]) -> Mapping[str, int]:
    """How many tasks with a score in each group of an axis are among those that the model was trained on."""
    return Counter(
        key for task in run.tasks if task.score is not None and task.name in trained for key in task.groups[scope]
    )


def _task_table(
    request: HttpRequest,
    suite: SuiteSummary,
    run: PublishedRun,
    content: BoardContent | None,
    *,
    trained: Collection[str],
) -> Table:
    sheet = task_sheet(run.tasks, suite=suite.slug, content=content, trained=trained)
    return table("tasks", sorted_sheet(sheet, request=request), request=request)


def _analyses(run: PublishedRun, content: BoardContent | None) -> list[tuple[AnalysisWords, Analysis]]:
    """What the statistics say about the run."""
    if content is None:
        return []
    found = [(words, content.analysis(name, run.model.run_id)) for name, words in ANALYSES.items()]
    return [(words, analysis) for words, analysis in found if analysis is not None]


def _split_gap(run: PublishedRun, content: BoardContent | None) -> SplitGap | None:
    """Both splits side by side, for a complete run on a board that has both."""
    splits = run.groups[AggregateScope.SPLIT.value]
    gap = content.analysis(HELD_OUT_GAP, run.model.run_id) if content else None
    if gap is None or not {Split.IN_DISTRIBUTION, Split.HELD_OUT} <= splits.keys():
        return None
    ends = figures.points_interval(gap.lower, gap.upper)
    return SplitGap(
        in_distribution=_mean_words(splits[Split.IN_DISTRIBUTION]),
        held_out=_mean_words(splits[Split.HELD_OUT]),
        gap=f"{figures.points(gap.value)} points{f' ({ends})' if ends else ''}",
    )


def _mean_words(score: GroupScore) -> str:
    ends = figures.interval(score.lower, score.upper)
    return f"{figures.percent(score.value)}{f' ({ends})' if ends else ''}"

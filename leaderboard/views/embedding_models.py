"""The page of one embedding model: facts, published scores, history, and where the scores come from."""

import json
import shlex
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import slugify

from leaderboard.models import EmbeddingModel
from leaderboard.models.vocabulary import SuiteKind
from leaderboard.selectors.boards import Board, BoardRow, overall_board
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.embedding_models import (
    PublishedRun,
    RunSummary,
    listed_model,
    published_run,
    run_history,
)
from leaderboard.views import figures
from leaderboard.views.analysis_words import ANALYSES, AnalysisWords, analysis_figures
from leaderboard.views.axes import CHOICES_OF
from leaderboard.views.boards import Tab
from leaderboard.views.model_sheets import group_sheet, task_sheet
from leaderboard.views.probe_models import probing_page
from leaderboard.views.sheets import Sheet, address_with, csv_response, sorted_sheet

MAIN_AXES = 2
"""Families and domains; the tables of the other axes are folded away."""


def detail(request: HttpRequest, repo_id: str) -> HttpResponse:
    """A model's page, opened at the published run that `suite` and `revision` in the address choose."""
    model = None if "\x00" in repo_id else listed_model(repo_id=repo_id)
    if model is None:
        raise Http404("There is no such model, or its owner does not want it listed.")
    if model.repo_id != repo_id:
        return redirect("model-detail", repo_id=model.repo_id)
    history = run_history(model_id=model.pk)
    published = [run for run in history if run.is_published and run.suite_is_live]
    chosen = _chosen(published, request)
    context: dict[str, Any] = {
        "section": "boards",
        "model": model,
        "hub_address": f"{settings.HUB_ENDPOINT}/{quote(model.repo_id)}",
        "history": history,
        "run_tabs": _run_tabs(request, published, chosen),
    }
    if chosen is None:
        return render(request, "models/model.html", context)
    suite = next(suite for suite in live_suites() if suite.slug == chosen.suite_slug)
    run = published_run(run_id=chosen.run_id)
    context |= {"chosen": chosen, "suite": suite, "run": run, "is_probing": suite.kind == SuiteKind.PROBING}
    context |= _provenance(model, suite, run)
    if context["is_probing"]:
        return probing_page(request, context)
    board = overall_board(suite)
    content = board.statistics.content if board.statistics else None
    tasks = sorted_sheet(task_sheet(run.tasks, suite=suite.slug, content=content), request=request)
    if request.GET.get("format") == "csv":
        return csv_response(tasks, file_name=f"medboard-{suite.slug}-{suite.version}-{slugify(model.repo_id)}")
    context |= _results(suite, run, board)
    context["tasks"] = tasks
    context["csv_address"] = address_with(request.GET, format="csv")
    return render(request, "models/model.html", context)


def _chosen(published: list[RunSummary], request: HttpRequest) -> RunSummary | None:
    suite, revision = request.GET.get("suite", ""), request.GET.get("revision", "")
    if revision and not (revision.isascii() and revision.isdigit()):
        raise BadRequest("A revision is chosen by its number.")
    fitting = [
        run for run in published if suite in {"", run.suite_slug} and (not revision or run.revision_id == int(revision))
    ]
    return max(fitting, key=_first_shown, default=None)


def _first_shown(run: RunSummary) -> tuple[bool, bool, Any]:
    """Real data before synthetic ones, retrieval before probing, the newest first."""
    return (not run.suite_is_synthetic, run.suite_kind == SuiteKind.RETRIEVAL, run.published_at)


def _run_tabs(request: HttpRequest, published: list[RunSummary], chosen: RunSummary | None) -> list[Tab]:
    return [
        Tab(
            f"{run.suite_title} {run.suite_version} · {run.revision}",
            f"{request.path}?suite={run.suite_slug}&revision={run.revision_id}",
            is_current=run is chosen,
        )
        for run in published
    ]


def _provenance(model: EmbeddingModel, suite: SuiteSummary, run: PublishedRun) -> dict[str, Any]:
    """Where the numbers of a run come from, and how to make them again."""
    return {
        "encode_config": _pretty(run.description.get("encode_config", {})),
        "environment": _pretty(run.environment),
        "command": reproduction(model.repo_id, run, suite),
    }


def _results(suite: SuiteSummary, run: PublishedRun, board: Board) -> dict[str, Any]:
    row = next((row for row in board.rows if row.model.run_id == run.model.run_id), None)
    sheets = _group_sheets(suite, run, board)
    return {
        "row": row,
        "rank": _rank_words(row) if row else "",
        "statistics": board.statistics,
        "n_ranked": sum(row.rank is not None for row in board.rows),
        "main_sheets": sheets[:MAIN_AXES],
        "other_sheets": sheets[MAIN_AXES:],
        "analyses": _analyses(run, board),
        "failed": [task for task in run.tasks if task.score is None],
    }


def _rank_words(row: BoardRow) -> str:
    if row.standing is None or row.standing.rank is None:
        return "" if row.rank is None else str(row.rank)
    return figures.rank_interval(row.standing.rank_lower, row.standing.rank_upper)


def _group_sheets(suite: SuiteSummary, run: PublishedRun, board: Board) -> list[tuple[str, Sheet]]:
    """The run's means on every axis that it has any on, families and domains first."""
    content = board.statistics.content if board.has_rank_intervals else None
    return [
        (
            scope.label,
            group_sheet(
                run.groups[scope.value], scope=scope, suite=suite.slug, run_id=run.model.run_id, content=content
            ),
        )
        for scope in CHOICES_OF
        if run.groups[scope.value]
    ]


def _analyses(run: PublishedRun, board: Board) -> list[tuple[AnalysisWords, str, str]]:
    """What the statistics say about the run: words, value and interval."""
    if board.statistics is None:
        return []
    content = board.statistics.content
    found = [(words, content.analysis(name, run.model.run_id)) for name, words in ANALYSES.items()]
    return [(words, *analysis_figures(words, analysis)) for words, analysis in found if analysis is not None]


def _pretty(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) if facts else ""


def reproduction(repo_id: str, run: PublishedRun, suite: SuiteSummary) -> str:
    """Shell commands that fetch the exact revision and evaluate it on the suite again."""
    lines = [f"hf download {shlex.quote(repo_id)} --revision {run.model.commit} --local-dir model"]
    adapter = ""
    if run.model.adapter_repo_id:
        lines.append(
            f"hf download {shlex.quote(run.model.adapter_repo_id)} --revision {run.model.adapter_commit}"
            " --local-dir adapter"
        )
        adapter = " --adapter adapter"
    lines.append(f"python -m evaluation run --model model{adapter} --suite {suite.slug} --out result.json")
    return "\n".join(lines)

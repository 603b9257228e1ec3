"""The list of tasks, and the page of one task."""

from collections.abc import Sequence
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify

from leaderboard.forms.tasks import TaskFilter
from leaderboard.models.vocabulary import Domain, EvidenceForm, Family, Modality, PoolScope, Split, TaskKind
from leaderboard.selectors.catalogue import TaskSummary, live_task, live_tasks, task_summaries
from leaderboard.selectors.examples import example_runs
from leaderboard.selectors.published import results_on_task
from leaderboard.selectors.snapshots import SuiteStatistics, statistics_of_suite
from leaderboard.selectors.training_data import contaminated_revisions
from leaderboard.views import figures
from leaderboard.views.analysis_words import BUCKETS
from leaderboard.views.probe_tasks import probe_task_page
from leaderboard.views.probe_words import level_title
from leaderboard.views.questions import FAMILY_QUESTIONS
from leaderboard.views.sheets import Cell, Column, Group, Sheet, sorted_sheet, text_cell
from leaderboard.views.tables import download, table
from leaderboard.views.task_examples import example_queries, pool_words
from leaderboard.views.task_results import result_sheet
from leaderboard.views.training_cells import names_of

LIST_COLUMNS = (
    Column("task", "Task", "The smallest scored unit", ("task", "title"), is_text=True, is_row_head=True),
    Column("suite", "Suite", "The suite that it belongs to", ("suite",), "left", is_text=True),
    Column(
        "family",
        "Family",
        "What is asked and what is searched; of a probing suite, what is measured",
        ("family",),
        "left",
        is_text=True,
    ),
    Column(
        "domain", "Domain", "Anatomical domain; of a probing suite, the modality", ("domain",), "left", is_text=True
    ),
    Column(
        "evidence_form",
        "Evidence",
        "The richest evidence in it; of a probing suite, the level",
        ("evidence_form",),
        "left",
        is_text=True,
    ),
    Column("split", "Split", "Whether its source gave training data to MedEmb", ("split",), "left", is_text=True),
    Column("pool", "Pool", "Whose candidates a query ranks", ("pool",), "left", is_text=True),
    Column("queries", "Queries", "Number of queries, anchor images or questions", ("queries",)),
    Column("chance", "Chance", "Hit@1 expected of a random order, in percent", ("chance_percent",)),
    Column("models", "Models", "Published models with a score on it", ("models",)),
    Column("best", "Best Hit@1", "The best published score, in percent", ("best_hit_at_1_percent",)),
    Column("ds", "Best DS", "The best published Discrimination Score", ("best_ds",)),
    Column("data", "Data", "Whether the workers have the task's data", ("data",), "left", is_text=True),
)


def task_list(request: HttpRequest) -> HttpResponse:
    """Every task of the live suites, filtered by the address."""
    tasks = TaskFilter(request.GET, queryset=live_tasks())
    is_valid = tasks.is_valid()
    found = task_summaries(tasks.qs) if is_valid else ()
    sheet = sorted_sheet(_list_sheet(found), request=request)
    shown = table("list", sheet, request=request)
    if is_valid and (file := download(request, [shown], stem="medboard-tasks")):
        return file
    context = {
        "section": "tasks",
        "form": tasks.form,
        "table": shown,
        "n_awaiting": sum(not task.is_installed for task in found),
        "has_synthetic": any(task.is_synthetic for task in found),
        "is_filtered": any(request.GET.get(name) for name in tasks.filters),
    }
    return render(request, "catalogue/tasks.html", context, status=200 if is_valid else 400)


def task_detail(request: HttpRequest, suite: str, name: str) -> HttpResponse:
    """What one task asks, and how every published model does on it."""
    task = None if "\x00" in name else live_task(suite=suite, name=name)
    if task is None:
        raise Http404("There is no such task.")
    if task.kind != TaskKind.RETRIEVAL:
        return probe_task_page(request, task)
    statistics = statistics_of_suite(task.suite_id)
    results = results_on_task(task_id=task.pk)
    trained = contaminated_revisions(task, {result.model.revision_id for result in results})
    rows = result_sheet(task, results, statistics, trained=trained)
    sheet = sorted_sheet(rows, request=request, default="rank")
    shown = table("models", sheet, request=request)
    if file := download(request, [shown], stem=f"medboard-{suite}-{slugify(name)}"):
        return file
    runs = example_runs(task_id=task.pk, without=_on_other_data(statistics, task.name)) if results else ()
    context = {
        "section": "tasks",
        "task": task,
        "question": FAMILY_QUESTIONS[task.family],
        "suite": task.suite,
        "statistics": statistics,
        "has_rank_intervals": statistics is not None and statistics.is_fresh,
        "bucket": BUCKETS.get(statistics.content.bucket_of(task.name)) if statistics else None,
        "table": shown,
        "trained": names_of([result.model for result in results], trained),
        "pool_words": pool_words(runs),
        "examples": example_queries(task, runs, results),
    }
    return render(request, "catalogue/task.html", context)


def _on_other_data(statistics: SuiteStatistics | None, task: str) -> list[UUID]:
    """The runs whose result on a task is of other data than most."""
    left_out = statistics.left_out if statistics else {}
    return [UUID(run_id) for run_id, names in left_out.items() if task in names]


def _list_sheet(tasks: Sequence[TaskSummary]) -> Sheet:
    return Sheet("Tasks", LIST_COLUMNS, (Group("", tuple(_list_row(task) for task in tasks)),))


def _list_row(task: TaskSummary) -> tuple[Cell, ...]:
    best_hit = task.best if task.kind == TaskKind.RETRIEVAL else None
    best_ds = task.best if task.kind == TaskKind.CELL else None
    return (
        Cell(
            text=task.title,
            sort=task.title.lower(),
            data=(task.name, task.title),
            note=task.name,
            href=reverse("task-detail", args=[task.suite_slug, task.name]),
            is_row_head=True,
        ),
        text_cell(task.suite_slug, note="synthetic" if task.is_synthetic else ""),
        *_group_cells(task),
        _number(task.n_queries),
        Cell(figures.percent(task.chance), task.chance, (figures.csv_percent(task.chance),)),
        _number(task.n_models),
        Cell(
            text=figures.percent(best_hit),
            sort=best_hit,
            data=(figures.csv_percent(best_hit),),
            style="none" if best_hit is None else figures.heat(best_hit),
        ),
        Cell(
            figures.signed(best_ds), best_ds, (figures.rounded(best_ds),), style="none" if best_ds is None else "score"
        ),
        text_cell(
            "Installed" if task.is_installed else "Awaiting data", style="left" if task.is_installed else "left none"
        ),
    )


def _group_cells(task: TaskSummary) -> tuple[Cell, ...]:
    """The groups of a task: family, domain, evidence, split and pool, or kind, modality and level."""
    if task.kind == TaskKind.RETRIEVAL:
        words = (
            Family(task.family).label,
            Domain(task.domain).label,
            EvidenceForm(task.evidence_form).label,
            Split(task.split).label,
            PoolScope(task.pool).label.partition(":")[0],
        )
    else:
        modality = Modality(task.modality).label if task.modality else ""
        words = (TaskKind(task.kind).label, modality, level_title(task.level) if task.level else "", "", "")
    return tuple(text_cell(word) for word in words)


def _number(value: int | None) -> Cell:
    return Cell(
        figures.NOTHING if value is None else str(value), value, (value,), style="none" if value is None else ""
    )

"""The list of tasks, and the page of one task."""

from collections.abc import Sequence

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify

from leaderboard.forms.tasks import TaskFilter
from leaderboard.models import Task
from leaderboard.models.vocabulary import Domain, EvidenceForm, Family, PoolScope, Split
from leaderboard.selectors.boards import competition_ranks
from leaderboard.selectors.catalogue import TaskSummary, live_task, live_tasks, task_summaries
from leaderboard.selectors.published import RunOnTask, results_on_task
from leaderboard.views import figures
from leaderboard.views.board_sheet import model_address, model_line
from leaderboard.views.model_sheets import score_cells
from leaderboard.views.questions import FAMILY_QUESTIONS
from leaderboard.views.sheets import Cell, Column, Group, Sheet, address_with, csv_response, sorted_sheet, text_cell

LIST_COLUMNS = (
    Column("task", "Task", "The smallest scored unit", ("task", "title"), is_text=True, is_row_head=True),
    Column("suite", "Suite", "The suite that it belongs to", ("suite",), "left", is_text=True),
    Column("family", "Family", "What is asked and what is searched", ("family",), "left", is_text=True),
    Column("domain", "Domain", "Anatomical domain", ("domain",), "left", is_text=True),
    Column("evidence_form", "Evidence", "The richest evidence in it", ("evidence_form",), "left", is_text=True),
    Column("split", "Split", "Whether its source gave training data to MedEmb", ("split",), "left", is_text=True),
    Column("pool", "Pool", "Whose candidates a query ranks", ("pool",), "left", is_text=True),
    Column("queries", "Queries", "Number of queries", ("queries",)),
    Column("chance", "Chance", "Hit@1 expected of a random order, in percent", ("chance_percent",)),
    Column("models", "Models", "Published models with a score on it", ("models",)),
    Column("best", "Best Hit@1", "The best published score, in percent", ("best_hit_at_1_percent",)),
    Column("data", "Data", "Whether the workers have the task's data", ("data",), "left", is_text=True),
)

RESULT_COLUMNS = (
    Column("rank", "Rank", "Place on this task; equal scores share a rank", ("rank",), is_text=True),
    Column("model", "Model", "Repository on the hub", ("model", "commit"), is_text=True, is_row_head=True),
    Column("hit", "Hit@1", "How often the right evidence comes first, in percent", ("hit_at_1_percent",)),
    Column("interval", "95% interval", "From a bootstrap over queries", ("lower_95", "upper_95"), "left"),
    Column("chance", "Chance", "Hit@1 expected of a random order, in percent", ("chance_percent",)),
    Column("adjusted", "Above chance", "(Hit@1 - chance) / (1 - chance), in percent", ("adjusted_percent",), "wrap"),
    Column("queries", "Queries", "Number of queries", ("queries",)),
    Column("parameters", "Size", "Number of parameters", ("parameters",)),
)


def task_list(request: HttpRequest) -> HttpResponse:
    """Every task of the live suites, filtered by the address."""
    tasks = TaskFilter(request.GET, queryset=live_tasks())
    is_valid = tasks.is_valid()
    found = task_summaries(tasks.qs) if is_valid else ()
    sheet = sorted_sheet(_list_sheet(found), request=request)
    if request.GET.get("format") == "csv" and is_valid:
        return csv_response(sheet, file_name="medboard-tasks")
    context = {
        "section": "tasks",
        "form": tasks.form,
        "sheet": sheet,
        "n_awaiting": sum(not task.is_installed for task in found),
        "has_synthetic": any(task.is_synthetic for task in found),
        "is_filtered": any(request.GET.get(name) for name in tasks.filters),
        "csv_address": address_with(request.GET, format="csv"),
    }
    return render(request, "catalogue/tasks.html", context, status=200 if is_valid else 400)


def task_detail(request: HttpRequest, suite: str, name: str) -> HttpResponse:
    """What one task asks, and how every published model does on it."""
    task = None if "\x00" in name else live_task(suite=suite, name=name)
    if task is None:
        raise Http404("There is no such task.")
    sheet = sorted_sheet(_result_sheet(task, results_on_task(task_id=task.pk)), request=request, default="rank")
    if request.GET.get("format") == "csv":
        return csv_response(sheet, file_name=f"medboard-{suite}-{slugify(name)}")
    context = {
        "section": "tasks",
        "task": task,
        "question": FAMILY_QUESTIONS[task.family],
        "suite": task.suite,
        "sheet": sheet,
        "csv_address": address_with(request.GET, format="csv"),
    }
    return render(request, "catalogue/task.html", context)


def _list_sheet(tasks: Sequence[TaskSummary]) -> Sheet:
    return Sheet("Tasks", LIST_COLUMNS, (Group("", tuple(_list_row(task) for task in tasks)),))


def _list_row(task: TaskSummary) -> tuple[Cell, ...]:
    has_best = task.best is not None
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
        text_cell(Family(task.family).label),
        text_cell(Domain(task.domain).label),
        text_cell(EvidenceForm(task.evidence_form).label),
        text_cell(Split(task.split).label),
        text_cell(PoolScope(task.pool).label.partition(":")[0]),
        _number(task.n_queries),
        Cell(figures.percent(task.chance), task.chance, (figures.csv_percent(task.chance),)),
        _number(task.n_models),
        Cell(
            text=figures.percent(task.best),
            sort=task.best,
            data=(figures.csv_percent(task.best),),
            style=figures.heat(task.best) if has_best else "none",
        ),
        text_cell(
            "Installed" if task.is_installed else "Awaiting data", style="left" if task.is_installed else "left none"
        ),
    )


def _number(value: int | None) -> Cell:
    return Cell(
        figures.NOTHING if value is None else str(value), value, (value,), style="none" if value is None else ""
    )


def _result_sheet(task: Task, results: Sequence[RunOnTask]) -> Sheet:
    ranks = competition_ranks({result.model.run_id: result.score.value for result in results})
    rows = tuple(_result_row(result, ranks[result.model.run_id]) for result in results)
    return Sheet(f"Models on {task.title}", RESULT_COLUMNS, (Group("", rows),))


def _result_row(result: RunOnTask, rank: int) -> tuple[Cell, ...]:
    model = result.model
    return (
        Cell(str(rank), rank, (rank,), style="rank"),
        Cell(
            text=model.name,
            sort=model.name.lower(),
            data=(model.repo_id, model.commit),
            note=model_line(model),
            title=model.repo_id,
            href=model_address(model),
            is_row_head=True,
        ),
        *score_cells(result.score),
        Cell(figures.quantity(model.parameters), model.parameters, (model.parameters,)),
    )

"""The page of a task of a probing suite: what is asked, with the texts of one concept, and every model on it."""

from collections.abc import Collection, Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify

from leaderboard.models import Task
from leaderboard.models.vocabulary import Level, NegationSubtype, PhrasingStyle, TaskKind
from leaderboard.selectors.probe_boards import ProbeStatistics, probe_statistics
from leaderboard.selectors.probe_rows import ProbeCell
from leaderboard.selectors.published import MainScore, PublishedModel, main_scores, published_models
from leaderboard.selectors.snapshots import Standing
from leaderboard.selectors.training_data import contaminated_revisions
from leaderboard.views import figures
from leaderboard.views.probe_cells import MODEL_COLUMN, axis_end, cell_of, model_cell, score_headers
from leaderboard.views.probe_words import LEVEL_QUESTIONS, STYLE_EXPLANATIONS, SUBTYPE_EXPLANATIONS
from leaderboard.views.rank_cells import rank_cell, rank_column, tie_styles
from leaderboard.views.sheets import Cell, Column, Group, Sheet, sorted_sheet
from leaderboard.views.tables import download, table
from leaderboard.views.training_cells import TASK_HEADER, names_of, score_with_training, with_header

CELL_COLUMNS = (
    rank_column("the models with this task"),
    MODEL_COLUMN,
    with_header(
        Column("ds", "DS", "Mean Discrimination Score with its 95% interval; the tick is zero", score_headers("all")),
        TASK_HEADER,
    ),
    Column("failed", "Failures", "Share of the images whose score is zero or less, in percent", ("failure_percent",)),
    Column(
        "passed",
        "Above chance",
        "Probes with a score above zero, beyond what exchangeable texts would give: 0 is chance, 100 is all",
        ("pass_rate_above_chance_percent",),
        "wrap",
    ),
    Column(
        "matched", "Size-matched", "DS against as many wrong descriptions as right ones", ("ds_size_matched",), "wrap"
    ),
    Column("scaled", "In SD", "DS in standard deviations of the model's cosines in this modality", ("ds_scaled",)),
    Column("images", "Images", "Anchor images", ("images",)),
    Column("clusters", "Patients or lesions", "What the interval resamples", ("patients_or_lesions",), "wrap"),
)
Measured = Sequence[tuple[ProbeCell, PublishedModel]]
"""The cells of a task with their models."""

QUESTIONS_ASKED = {
    TaskKind.CLOSED_QUESTIONS: "Yes/no questions about images: is the image nearer to the affirmative statement or to its"
    " negation?",
    TaskKind.CAPTION_RETRIEVAL: "Images search for their captions and captions for their images. Compared with MedTEC's"
    " own ranking of the same models.",
    TaskKind.ZERO_SHOT: "Is a finding named by a prompt nearer to the image than its negation? Compared with MedTEC's own"
    " ranking of the same models.",
}


def probe_task_page(request: HttpRequest, task: Task) -> HttpResponse:
    """What one task of a probing suite asks, and how every published model does on it."""
    statistics = probe_statistics(task.suite_id)
    is_cell = task.kind == TaskKind.CELL
    measured = _measured(task, statistics) if is_cell else ()
    scores = () if is_cell else main_scores(task_id=task.pk)
    models = [model for _, model in measured] + [score.model for score in scores]
    trained = contaminated_revisions(task, {model.revision_id for model in models})
    sheet = _cell_sheet(task, measured, trained) if is_cell else _score_sheet(task, scores, trained)
    tables = [table("models", sorted_sheet(sheet, request=request), request=request)]
    if file := download(request, tables, stem=f"medboard-{task.suite.slug}-{slugify(task.name)}"):
        return file
    context = {
        "section": "tasks",
        "task": task,
        "suite": task.suite,
        "statistics": statistics,
        "question": LEVEL_QUESTIONS[Level(task.level)] if is_cell else QUESTIONS_ASKED[TaskKind(task.kind)],
        "style_words": STYLE_EXPLANATIONS.get(PhrasingStyle(task.style)) if task.style else "",
        "subtype_words": SUBTYPE_EXPLANATIONS.get(NegationSubtype(task.subtype)) if task.subtype else "",
        "is_cell": is_cell,
        "table": tables[0],
        "trained": names_of(models, trained),
    }
    return render(request, "catalogue/probe_task.html", context)


def _measured(task: Task, statistics: ProbeStatistics | None) -> Measured:
    """The cells of a task with their models, by rank and name."""
    if statistics is None:
        return ()
    models = {str(model.run_id): model for model in published_models(suite_id=task.suite_id)}
    found = [
        (cell, models[cell.model])
        for cell in statistics.content.cells
        if cell.task == task.name and cell.model in models
    ]
    return sorted(found, key=lambda one: (one[0].rank, one[1].repo_id.lower()))


def _cell_sheet(task: Task, measured: Measured, trained: Collection[int]) -> Sheet:
    standings = {cell.model: _standing(cell) for cell, _ in measured}
    styles = tie_styles(standings.values())
    top = axis_end(cell for cell, _ in measured)
    rows = tuple(
        (
            rank_cell(cell.rank, standings[cell.model], styles),
            *_cells(cell, model, top, is_trained=model.revision_id in trained),
        )
        for cell, model in measured
    )
    return Sheet(f"Models on {task.title}", CELL_COLUMNS, (Group("", rows),) if rows else ())


def _standing(cell: ProbeCell) -> Standing:
    """The rank of a cell in the form that ranks are shown in."""
    value, ends = cell.ds, (cell.lower, cell.upper)
    lower, upper = (value if end is None else end for end in ends)
    return Standing(
        run_id=cell.model,
        value=value,
        lower=lower,
        upper=upper,
        n_tasks=1,
        n_expected=1,
        rank=cell.rank,
        rank_lower=cell.rank_lower,
        rank_upper=cell.rank_upper,
        tie_group=cell.tie_group,
    )


def _cells(cell: ProbeCell, model: PublishedModel, top: float, *, is_trained: bool) -> tuple[Cell, ...]:
    return (
        model_cell(model),
        score_with_training(cell_of(cell, top=top), is_trained=is_trained),
        Cell(figures.percent(cell.failure_rate), cell.failure_rate, (figures.csv_percent(cell.failure_rate),)),
        Cell(
            figures.percent(cell.pass_rate_adjusted),
            cell.pass_rate_adjusted,
            (figures.csv_percent(cell.pass_rate_adjusted),),
        ),
        Cell(figures.signed(cell.ds_size_matched), cell.ds_size_matched, (figures.rounded(cell.ds_size_matched),)),
        Cell(
            figures.NOTHING if cell.ds_scaled is None else f"{cell.ds_scaled:+.2f}",
            cell.ds_scaled,
            (figures.rounded(cell.ds_scaled),),
        ),
        Cell(str(cell.n_anchors), cell.n_anchors, (cell.n_anchors,)),
        Cell(str(cell.n_clusters), cell.n_clusters, (cell.n_clusters,)),
    )


def _score_sheet(task: Task, scores: Sequence[MainScore], trained: Collection[int]) -> Sheet:
    metric = scores[0].metric if scores else ""
    title = figures.metric_title(metric).capitalize() or "Score"
    columns = (
        MODEL_COLUMN,
        with_header(Column("value", title, "In percent", (f"{metric}_percent",)), TASK_HEADER),
        Column("interval", "95% interval", "From a bootstrap", ("lower_95", "upper_95"), "left"),
        Column("n", "Items", "Images or questions", ("items",)),
    )
    rows = tuple(
        (
            model_cell(score.model),
            score_with_training(
                Cell(
                    figures.percent(score.value),
                    score.value,
                    (figures.csv_percent(score.value),),
                    style=figures.heat(score.value),
                ),
                is_trained=score.model.revision_id in trained,
            ),
            Cell(
                figures.interval(score.lower, score.upper) or figures.NOTHING,
                score.lower,
                (figures.csv_percent(score.lower), figures.csv_percent(score.upper)),
                style="left",
            ),
            Cell(str(score.n_queries), score.n_queries, (score.n_queries,)),
        )
        for score in scores
    )
    return Sheet(f"Models on {task.title}", columns, (Group("", rows),) if rows else ())

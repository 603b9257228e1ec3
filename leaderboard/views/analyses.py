"""What the statistics of a suite say beside ranks: evenness, drops, gaps, and how far models differ on hard tasks."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from leaderboard.models.vocabulary import SuiteKind
from leaderboard.selectors.catalogue import SuiteSummary, live_suites
from leaderboard.selectors.published import PublishedModel, published_models
from leaderboard.selectors.snapshots import BoardContent, Bucket, statistics_of_suite
from leaderboard.views import figures
from leaderboard.views.analysis_words import ANALYSES, BUCKETS, AnalysisWords, analysis_figures
from leaderboard.views.board_sheet import model_address, model_line
from leaderboard.views.boards import Tab, chosen_suite
from leaderboard.views.drawn import nothing
from leaderboard.views.sheets import Cell, Column, Group, Sheet, sorted_sheet
from leaderboard.views.tables import download, table
from leaderboard.views.trained_models import trained_models

MODEL = Column(
    "model",
    "Model",
    "Models with a score for every installed task",
    ("model", "commit"),
    is_text=True,
    is_row_head=True,
)
BUCKET_COLUMNS = (
    Column(
        "bucket", "Bucket", "By the mean Hit@1 of the public baselines on this board", ("bucket",), is_row_head=True
    ),
    Column("range", "Baselines' mean", "Mean Hit@1 of the public baselines", ("from", "to"), "left"),
    Column("tasks", "Tasks", "Tasks in the bucket", ("tasks",)),
    Column("models", "Models", "Models with every task of the bucket", ("models",)),
    Column(
        "spread", "Spread of models", "Standard deviation of the models' means in the bucket, in points", ("spread",)
    ),
    Column("interval", "95% interval", "From a bootstrap over queries, in points", ("lower_95", "upper_95"), "left"),
)


def page(request: HttpRequest) -> HttpResponse:
    """The analyses of one suite."""
    suites = live_suites(SuiteKind.RETRIEVAL)
    suite = chosen_suite(suites, request.GET.get("suite", ""))
    if suite is None:
        return render(request, "boards/no_suite.html", {"section": "analyses"})
    statistics = statistics_of_suite(suite.pk)
    models = published_models(suite_id=suite.pk) if statistics else ()
    context = {
        "section": "analyses",
        "suite": suite,
        "suite_tabs": _suite_tabs(suites, suite),
        "statistics": statistics,
    }
    if statistics is not None:
        sheet = sorted_sheet(_model_sheet(statistics.content, models), request=request)
        shown = table("models", sheet, request=request)
        buckets = table("buckets", _bucket_sheet(statistics.content.buckets), request=request)
        if file := download(request, [shown, buckets], stem=f"medboard-analyses-{suite.slug}-{suite.version}"):
            return file
        by_run = {str(model.run_id): model for model in models}
        baselines = [by_run[run_id] for run_id in statistics.content.baselines if run_id in by_run]
        context |= {
            "models": shown,
            "buckets": buckets,
            "baselines": baselines,
            "trained_models": trained_models(models, suite_id=suite.pk),
        }
    return render(request, "boards/analyses.html", context)


def _suite_tabs(suites: Sequence[SuiteSummary], current: SuiteSummary) -> list[Tab]:
    address = reverse("analyses")
    return [
        Tab(f"{suite.title} {suite.version}", f"{address}?suite={suite.slug}", is_current=suite.pk == current.pk)
        for suite in suites
    ]


def _bucket_sheet(buckets: Sequence[Bucket]) -> Sheet:
    return Sheet("Difficulty buckets", BUCKET_COLUMNS, (Group("", tuple(_bucket_row(bucket) for bucket in buckets)),))


def _bucket_row(bucket: Bucket) -> tuple[Cell, ...]:
    words = BUCKETS[bucket.key]
    interval = "" if bucket.lower is None else f"{bucket.lower * 100:.1f} to {bucket.upper * 100:.1f}"
    return (
        Cell(words.title, words.start, (bucket.key,), is_row_head=True),
        Cell(words.range, words.start, (words.start, words.end), style="left"),
        Cell(str(len(bucket.tasks)), len(bucket.tasks), (len(bucket.tasks),), title=", ".join(bucket.tasks)),
        Cell(str(bucket.n_models), bucket.n_models, (bucket.n_models,)),
        Cell(figures.percent(bucket.value), bucket.value, (figures.csv_percent(bucket.value),), style="score"),
        Cell(
            interval or figures.NOTHING,
            bucket.lower,
            (figures.csv_percent(bucket.lower), figures.csv_percent(bucket.upper)),
            style="left",
        ),
    )


def _model_sheet(content: BoardContent, models: Sequence[PublishedModel]) -> Sheet:
    shown = {name: words for name, words in ANALYSES.items() if name in content.analyses}
    columns = tuple(
        Column(name, words.title, words.explanation, (name, f"{name}_lower_95", f"{name}_upper_95"), "wrap")
        for name, words in shown.items()
    )
    complete = [model for model in models if any(str(model.run_id) in content.analyses[name] for name in shown)]
    rows = tuple(
        (_model_cell(model), *(_cell(content, name, words, model) for name, words in shown.items()))
        for model in complete
    )
    return Sheet("Analyses by model", (MODEL, *columns), (Group("", rows),) if rows else ())


def _model_cell(model: PublishedModel) -> Cell:
    return Cell(
        text=model.name,
        sort=model.name.lower(),
        data=(model.repo_id, model.commit),
        note=model_line(model),
        title=model.repo_id,
        href=model_address(model),
        is_row_head=True,
    )


def _cell(content: BoardContent, name: str, words: AnalysisWords, model: PublishedModel) -> Cell:
    analysis = content.analysis(name, model.run_id)
    if analysis is None:
        return nothing(width=3)
    value, interval = analysis_figures(words, analysis)
    numbers = (analysis.value, analysis.lower, analysis.upper)
    data = numbers if words.is_ratio else tuple(figures.csv_percent(number) for number in numbers)
    title = f"95% interval {interval}" if interval else ""
    return Cell(value, analysis.value, data, style="stacked", note=interval, title=title)

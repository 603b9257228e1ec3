"""A model's scores as sheets: by family, by domain, by task."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.urls import reverse

from leaderboard.models.vocabulary import AggregateScope, Domain, Family, PoolScope, TaskRunState
from leaderboard.selectors.board_rows import GroupScore
from leaderboard.selectors.embedding_models import TaskOutcome
from leaderboard.selectors.published import TaskScore
from leaderboard.selectors.snapshots import Analysis, BoardContent
from leaderboard.views import figures
from leaderboard.views.analysis_words import BUCKETS, AnalysisWords, analysis_figures
from leaderboard.views.axes import CHOICES_OF, board_address
from leaderboard.views.board_sheet import ties_words, whisker
from leaderboard.views.drawn import nothing
from leaderboard.views.rank_cells import UNRANKED, rank_cell, rank_column
from leaderboard.views.sheets import Cell, Column, Group, Sheet, text_cell
from leaderboard.views.training_cells import (
    GROUP_HEADER,
    TASK_HEADER,
    mean_with_training,
    score_with_training,
    with_header,
)

MEAN_COLUMNS = (
    with_header(
        Column("mean", "Hit@1", "Mean Hit@1 of the group's tasks in percent, with its 95% interval", ("mean",)),
        GROUP_HEADER,
    ),
    Column("interval", "95% interval", "From a bootstrap over queries", ("interval",), style="left"),
    rank_column("the models with every task of the group"),
    Column("tasks", "Tasks", "Tasks evaluated of those in the group", ("tasks",)),
)

ANALYSIS_COLUMNS = (
    Column("analysis", "Analysis", "What is asked", ("analysis",), is_text=True, is_row_head=True),
    Column("value", "Value", "In points with its sign; CV is a ratio", ("value",)),
    Column("interval", "95% interval", "From a bootstrap over queries", ("lower_95", "upper_95"), style="left"),
)

TASK_COLUMNS = (
    Column("task", "Task", "The smallest scored unit", ("task", "title"), is_text=True, is_row_head=True),
    Column("family", "Family", "What is asked and what is searched", ("family",), style="left", is_text=True),
    Column("domain", "Domain", "Anatomical domain", ("domain",), style="left", is_text=True),
    with_header(
        Column("hit", "Hit@1", "How often the right evidence comes first, in percent", ("hit_at_1_percent",)),
        TASK_HEADER,
    ),
    Column(
        "interval", "95% interval", "From a bootstrap over queries, in percent", ("lower_95", "upper_95"), style="left"
    ),
    Column("chance", "Chance", "Hit@1 expected of a random order, in percent", ("chance_percent",)),
    Column("adjusted", "Above chance", "(Hit@1 - chance) / (1 - chance), in percent", ("adjusted_percent",), "wrap"),
    Column("queries", "Queries", "Number of queries", ("queries",)),
    Column(
        "pool", "Pool", "local: each query has its own pool; global: one for the task", ("pool",), "left", is_text=True
    ),
    Column(
        "bucket",
        "Difficulty",
        "Bucket of the task by the mean Hit@1 of the public baselines on this board",
        ("difficulty",),
        "left",
        is_text=True,
    ),
    Column(
        "bounds",
        "Ties",
        "Hit@1 in the worst and best order of equal scores, where they are more than half a point apart",
        ("worst_order_percent", "best_order_percent"),
        "left",
    ),
)


def group_sheet(
    scores: Mapping[str, GroupScore],
    *,
    scope: AggregateScope,
    suite: str,
    run_id: UUID,
    content: BoardContent | None,
    trained: Mapping[str, int],
) -> Sheet:
    """One row a group that the run has scores in, with its rank there where `content` has fresh statistics.

    `trained` counts the tasks of each group whose data the model was trained on.
    """
    choices = CHOICES_OF[scope]
    known = [choice for choice in choices if choice.value in scores]
    top = figures.axis_top([scores[choice.value].upper or scores[choice.value].value for choice in known])
    rows = []
    for choice in known:
        score = scores[choice.value]
        coverage = f"{score.n_tasks} of {score.n_expected}"
        standing = content.standing(scope.value, choice.value, run_id) if content else None
        ranked = standing if standing is not None and standing.rank is not None else None
        rows.append(
            (
                Cell(
                    choice.label,
                    choice.label,
                    (choice.value,),
                    href=board_address(scope.value, choice.value, suite=suite),
                    is_row_head=True,
                ),
                mean_with_training(
                    Cell(
                        figures.percent(score.value),
                        score.value,
                        (figures.csv_percent(score.value),),
                        style="score" if score.is_complete else "score none",
                        note=figures.half_width(score.lower, score.upper),
                        whisker=whisker(score.lower, score.upper, top=top),
                    ),
                    trained.get(choice.value, 0),
                ),
                text_cell(figures.interval(score.lower, score.upper)),
                UNRANKED if ranked is None else rank_cell(ranked.rank, ranked, {}),
                Cell(coverage, score.n_tasks, (coverage,), style="" if score.is_complete else "none"),
            )
        )
    word = scope.label
    head = Column("group", word, "A group of tasks; links to its board", ("group",), is_row_head=True)
    return Sheet(f"Scores by {word.lower()}", (head, *MEAN_COLUMNS), (Group("", tuple(rows)),))


def analysis_sheet(found: Sequence[tuple[AnalysisWords, Analysis]]) -> Sheet:
    """What the statistics say about a run beside its means: one row an analysis, as a ratio or in points."""
    rows = []
    for words, analysis in found:
        value, interval = analysis_figures(words, analysis)
        scaled = figures.rounded if words.is_ratio else figures.csv_percent
        rows.append(
            (
                Cell(words.title, words.title, (words.title,), note=words.explanation, is_row_head=True),
                Cell(value, analysis.value, (scaled(analysis.value),), style="score"),
                Cell(
                    interval or figures.NOTHING,
                    analysis.lower,
                    (scaled(analysis.lower), scaled(analysis.upper)),
                    style="left",
                ),
            )
        )
    return Sheet("Evenness and generalisation", ANALYSIS_COLUMNS, (Group("", tuple(rows)),) if rows else ())


def task_sheet(
    tasks: tuple[TaskOutcome, ...], *, suite: str, content: BoardContent | None, trained: Collection[str]
) -> Sheet:
    """One row a task, with its difficulty where there are statistics; those without a score apart, with the reason.

    `trained` names the tasks whose data the model was trained on.
    """
    scored = tuple(
        _task_row(task, task.score, suite, content, is_trained=task.name in trained)
        for task in tasks
        if task.score is not None
    )
    failed = tuple(_failed_row(task, suite) for task in tasks if task.score is None)
    groups = (Group("", scored), Group("No score", failed))
    return Sheet("Scores by task", TASK_COLUMNS, tuple(group for group in groups if group.rows))


def _task_head(task: TaskOutcome, suite: str, *, why: str = "") -> tuple[Cell, Cell, Cell]:
    return (
        Cell(
            text=task.title,
            sort=task.title.lower(),
            data=(task.name, task.title),
            note=task.name,
            href=reverse("task-detail", args=[suite, task.name]),
            mark=why,
            is_row_head=True,
        ),
        text_cell(Family(task.family).label),
        text_cell(Domain(task.domain).label),
    )


def _task_row(
    task: TaskOutcome, score: TaskScore, suite: str, content: BoardContent | None, *, is_trained: bool
) -> tuple[Cell, ...]:
    cells, bucket = score_cells(score, is_trained=is_trained), _bucket_cell(task, content)
    return (*_task_head(task, suite), *cells, _pool_cell(task), bucket, _bounds_cell(score))


def _bucket_cell(task: TaskOutcome, content: BoardContent | None) -> Cell:
    bucket = content.bucket_of(task.name) if content else ""
    return text_cell(BUCKETS[bucket].title if bucket else "")


def score_cells(score: TaskScore, *, is_trained: bool) -> tuple[Cell, Cell, Cell, Cell, Cell]:
    """Hit@1, interval, chance, score above chance, number of queries. `is_trained`: on data of the task."""
    hit = Cell(
        text=figures.percent(score.value),
        sort=score.value,
        data=(figures.csv_percent(score.value),),
        style=figures.heat(score.value),
        title=ties_words(score),
    )
    return (
        score_with_training(hit, is_trained=is_trained),
        Cell(
            text=figures.interval(score.lower, score.upper) or figures.NOTHING,
            sort=score.lower,
            data=(figures.csv_percent(score.lower), figures.csv_percent(score.upper)),
            style="left",
        ),
        Cell(figures.percent(score.chance), score.chance, (figures.csv_percent(score.chance),)),
        Cell(figures.percent(score.adjusted), score.adjusted, (figures.csv_percent(score.adjusted),)),
        Cell(str(score.n_queries), score.n_queries, (score.n_queries,)),
    )


def _pool_cell(task: TaskOutcome) -> Cell:
    return text_cell(PoolScope(task.pool).label.partition(":")[0])


def _bounds_cell(score: TaskScore) -> Cell:
    if not score.depends_on_ties:
        return Cell("", None, (None, None))
    return Cell(
        text=figures.interval(score.pessimistic, score.optimistic),
        sort=score.pessimistic,
        data=(figures.csv_percent(score.pessimistic), figures.csv_percent(score.optimistic)),
        style="left",
        title=ties_words(score),
    )


def _failed_row(task: TaskOutcome, suite: str) -> tuple[Cell, ...]:
    state = TaskRunState(task.state).label
    why = f"{task.error_message} ({task.error_code})" if task.error_code else state
    return (
        *_task_head(task, suite, why=why),
        score_with_training(nothing(), is_trained=False),
        nothing(style="left none", width=2),
        nothing(),
        nothing(),
        nothing(),
        _pool_cell(task),
        text_cell(""),
        Cell("", None, (None, None)),
    )

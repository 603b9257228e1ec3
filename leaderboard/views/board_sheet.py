"""The columns of the boards of retrieval suites."""

from dataclasses import replace

from django.db.models import TextChoices
from django.urls import reverse

from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope
from leaderboard.selectors.board_making import MOST_TASK_COLUMNS, OVERVIEW_SCOPES
from leaderboard.selectors.board_rows import Board, BoardRow, BoardTask, GroupScore
from leaderboard.selectors.published import PublishedModel, TaskScore
from leaderboard.views import figures
from leaderboard.views.drawn import Drawn, nothing
from leaderboard.views.model_columns import model_columns
from leaderboard.views.rank_cells import UNRANKED as UNRANKED_CELL
from leaderboard.views.rank_cells import rank_cell, rank_column, tie_styles
from leaderboard.views.sheets import Cell, Column, Whisker
from leaderboard.views.training_cells import clean_mean, clean_rank, group_mark, mean_mark, task_mark, trained_on

REFERENCE = "For comparison"
"""What the row of chance stands under."""


def board_columns(board: Board, *, is_clean: bool = False) -> tuple[Drawn, ...]:
    """Every column that a board can show. `is_clean`: it is one of `selectors.clean_boards`."""
    if board.scope == AggregateScope.OVERALL:
        groups = [(scope, key) for scope in OVERVIEW_SCOPES for key in CHOICES_OF[scope]]
        scores = [_cv(), *(_group(board, scope, key, is_clean=is_clean) for scope, key in groups)]
    else:
        tasks = board.tasks if len(board.tasks) <= MOST_TASK_COLUMNS else ()
        scores = [_adjusted(), *(_task(task, is_clean=is_clean) for task in tasks)]
    if is_clean:
        rank, mean = clean_rank("mean"), clean_mean(board)
        scores[0] = replace(scores[0], is_default=False)  # has no value then, but addresses that name it stay good
    else:
        rank, mean = _rank(board), _mean(board, board_axis(board))
    return (rank, _model(), mean, *scores, trained_on(board, is_clean=is_clean), *model_columns(board.device))


def board_axis(board: Board) -> float:
    """Where the axis of the intervals ends: the same for every filter of the board."""
    means = [row.mean for row in board.rows if row.rank is not None and row.mean]
    return figures.axis_top([mean.upper if mean.upper is not None else mean.value for mean in means])


def whisker(lower: float | None, upper: float | None, *, top: float, chance: float | None = None) -> Whisker | None:
    """An interval on an axis from 0 to `top`, at least wide enough to be seen."""
    if lower is None or upper is None:
        return None
    start, end = (min(1.0, value / top) * 100 for value in (lower, upper))
    width = max(1.0, end - start)
    return Whisker(
        start=round(min(start, 100 - width), 2),
        width=round(width, 2),
        chance=None if chance is None else round(min(99.0, chance / top * 100), 2),
    )


def _rank(board: Board) -> Drawn:
    styles = tie_styles(row.standing for row in board.rows)

    def cell(row: BoardRow) -> Cell:
        return UNRANKED_CELL if row.rank is None else rank_cell(row.rank, row.standing, styles)

    return Drawn(rank_column("the models with every task of this board"), cell, lambda: UNRANKED_CELL)


def _model() -> Drawn:
    headers = (
        "model", "commit", "adapter", "adapter_commit", "kind", "tasks", "tasks_expected", "why_not_ranked",
    )  # fmt: skip

    def cell(row: BoardRow) -> Cell:
        model, why = row.model, figures.reason(row.missing)
        coverage = "" if row.rank is not None else f"{row.n_tasks} of {row.n_expected} tasks: {why}"
        return Cell(
            text=model.name,
            sort=model.name.lower(),
            data=(
                model.repo_id, model.commit, model.adapter_repo_id, model.adapter_commit, model.kind,
                row.n_tasks, row.n_expected, why,
            ),
            note=model_line(model),
            title=model.repo_id,
            href=model_address(model),
            mark=coverage,
            is_row_head=True,
        )  # fmt: skip

    column = Column(
        key="model",
        title="Model",
        explanation="Repository on the hub; below it the owner and the kind of model",
        headers=headers,
        is_text=True,
        is_row_head=True,
    )
    chance = Cell(
        text="Chance",
        sort="chance",
        data=("chance", "", "", "", "", None, None, ""),
        note="expected of a random order of each pool",
        is_row_head=True,
    )
    return Drawn(column, cell, lambda: chance)


def model_line(model: PublishedModel) -> str:
    """Owner, kind and adapter in a line."""
    parts = [model.owner, figures.kind_title(model.kind), "gated" if model.gated else ""]
    if model.adapter_repo_id:
        parts.append(f"with adapter {model.adapter_repo_id}")
    return " · ".join(part for part in parts if part)


def model_address(model: PublishedModel) -> str:
    """The page of a model, opened at this revision."""
    return f"{reverse('model-detail', args=[model.repo_id])}?revision={model.revision_id}"


def _mean(board: Board, top: float) -> Drawn:
    is_overall = board.scope == AggregateScope.OVERALL

    def cell(row: BoardRow) -> Cell:
        if row.rank is None or row.mean is None:
            text = f"{row.n_tasks} of {row.n_expected}"
            return Cell(text=text, sort=None, data=(None, None, None), style="score none", title="Tasks evaluated")
        mean = row.mean
        shown = Cell(
            text=figures.percent(mean.value),
            sort=mean.value,
            data=tuple(figures.csv_percent(value) for value in (mean.value, mean.lower, mean.upper)),
            style="score",
            note=figures.half_width(mean.lower, mean.upper),
            title=f"95% interval {figures.interval(mean.lower, mean.upper)}" if mean.lower is not None else "",
            whisker=whisker(mean.lower, mean.upper, top=top, chance=board.chance),
        )
        return mean_mark(shown, row)

    column = Column(
        key="mean",
        title="Mean of families" if is_overall else "Mean of tasks",
        explanation="Hit@1 in percent, "
        + ("mean of the eight families' means" if is_overall else "mean of the tasks on this board")
        + "; the bar is the 95% interval, the tick is chance",
        headers=("mean_hit_at_1_percent", "mean_lower_95", "mean_upper_95"),
    )
    chance = Cell(
        text=figures.percent(board.chance),
        sort=board.chance,
        data=(figures.csv_percent(board.chance), None, None),
        style="score none",
    )
    return Drawn(column, cell, lambda: chance)


def _cv() -> Drawn:
    def cell(row: BoardRow) -> Cell:
        if row.rank is None or row.cv is None:
            return nothing()
        return Cell(text=f"{row.cv:.2f}", sort=row.cv, data=(round(row.cv, 6),))

    column = Column(
        key="cv",
        title="CV",
        explanation="Spread across families: standard deviation of the family means by their mean; lower is more even",
        headers=("cv_across_families",),
        is_text=True,
    )
    return Drawn(column, cell)


def _adjusted() -> Drawn:
    def cell(row: BoardRow) -> Cell:
        if row.adjusted is None:
            return nothing()
        return Cell(text=figures.percent(row.adjusted), sort=row.adjusted, data=(figures.csv_percent(row.adjusted),))

    column = Column(
        key="adjusted",
        title="Above chance",
        explanation="Mean of (Hit@1 - chance) / (1 - chance) over the tasks: 0 is chance, 100 is perfect",
        headers=("adjusted_percent",),
        style="wrap",
    )
    zero = Cell(text=figures.percent(0.0), sort=0.0, data=(0.0,), style="none")
    return Drawn(column, cell, lambda: zero)


def _group(board: Board, scope: AggregateScope, group: TextChoices, *, is_clean: bool) -> Drawn:
    def cell(row: BoardRow) -> Cell:
        score = row.groups.get(group.value)
        return nothing(width=3) if score is None else group_mark(group_cell(score), row, group.value, is_clean=is_clean)

    expected = board.group_chance.get(group.value)
    words = f"; chance {figures.percent(expected)}" if expected is not None else "; no task of it is installed"
    column = Column(
        key=group.value,
        title=group.label,
        explanation=f"{scope.label} {group.label}: mean Hit@1 over its tasks{words}",
        headers=tuple(
            f"{'clean_' if is_clean else ''}{group.value}_{part}"
            for part in ("hit_at_1_percent", "lower_95", "upper_95")
        ),
        style="wrap",
    )
    is_default = scope == AggregateScope.FAMILY
    return Drawn(column, cell, lambda: _chance_cell(expected, width=3), f"By {scope.label.lower()}", is_default)


def group_cell(score: GroupScore) -> Cell:
    """The mean of a family or domain; where tasks are missing, how many there are in its place."""
    if not score.is_complete:
        text = f"{score.n_tasks}/{score.n_expected}"
        return Cell(text=text, sort=None, data=(None, None, None), style="none", title=f"{text} tasks evaluated")
    return Cell(
        text=figures.percent(score.value),
        sort=score.value,
        data=tuple(figures.csv_percent(value) for value in (score.value, score.lower, score.upper)),
        style=figures.heat(score.value),
        title=f"95% interval {figures.interval(score.lower, score.upper)}" if score.lower is not None else "",
    )


def _task(task: BoardTask, *, is_clean: bool) -> Drawn:
    def cell(row: BoardRow) -> Cell:
        score = row.tasks.get(task.pk)
        return nothing(width=3) if score is None else task_mark(task_cell(score), row, task.name, is_clean=is_clean)

    known = f"{task.n_queries} queries, chance {figures.percent(task.chance)}"
    words = known if task.is_installed else "awaiting data"
    column = Column(
        key=f"task-{task.name}",
        title=task.title,
        explanation=f"{task.name}: Hit@1 in percent; {words}",
        headers=tuple(f"{task.name}_{part}" for part in ("hit_at_1_percent", "lower_95", "upper_95")),
        style="wrap",
    )
    return Drawn(column, cell, lambda: _chance_cell(task.chance, width=3), "By task")


def task_cell(score: TaskScore) -> Cell:
    """Hit@1 of a task, marked where equal scores leave it open."""
    title = f"95% interval {figures.interval(score.lower, score.upper)}" if score.lower is not None else ""
    return Cell(
        text=figures.percent(score.value),
        sort=score.value,
        data=tuple(figures.csv_percent(value) for value in (score.value, score.lower, score.upper)),
        style=figures.heat(score.value),
        title="; ".join(part for part in (title, ties_words(score)) if part),
        mark="ties" if score.depends_on_ties else "",
    )


def ties_words(score: TaskScore) -> str:
    """What equal scores leave open, where that is more than half a point."""
    if not score.depends_on_ties:
        return ""
    bounds = figures.interval(score.pessimistic, score.optimistic)
    return f"equal scores leave {bounds} open; the figure is the mean over their orders"


def _chance_cell(value: float | None, *, width: int) -> Cell:
    if value is None:
        return nothing(width=width)
    data = (figures.csv_percent(value), *(None,) * (width - 1))
    return Cell(text=figures.percent(value), sort=value, data=data, style="none")

"""A board as a sheet."""

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from leaderboard.models.vocabulary import AggregateScope, Family
from leaderboard.selectors.boards import Board, BoardRow, BoardTask, GroupScore
from leaderboard.selectors.published import PublishedModel, TaskScore
from leaderboard.views import figures
from leaderboard.views.rank_cells import UNRANKED as UNRANKED_CELL
from leaderboard.views.rank_cells import rank_cell, rank_column, tie_styles
from leaderboard.views.sheets import Cell, Column, Group, Sheet, Whisker

RANKED, UNRANKED, REFERENCE = "", "Listed, not ranked: tasks are missing", "For comparison"

MOST_TASK_COLUMNS = 40
"""A board of more tasks shows their mean alone; each task has a page."""


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A column with how its cells are made: from a row, and from the board's chance levels."""

    column: Column
    cell: Callable[[BoardRow], Cell]
    chance: Callable[[], Cell]


def board_sheet(board: Board, rows: tuple[BoardRow, ...], *, caption: str) -> Sheet:
    """The rows of a board that passed the filter, ranked and unranked ones apart, with chance below them."""
    top = board_axis(board)
    drawn = [_rank(board), _model(), _mean(board, top)]
    if board.scope == AggregateScope.OVERALL:
        drawn += [_cv(), *(_family(board, Family(value)) for value in Family.values)]
    else:
        drawn.append(_adjusted())
        if len(board.tasks) <= MOST_TASK_COLUMNS:
            drawn += [_task(task) for task in board.tasks]
    drawn += [_parameters(), _dimension(), _licence()]
    groups = [
        Group(RANKED, _cells(drawn, [row for row in rows if row.rank is not None])),
        Group(UNRANKED, _cells(drawn, [row for row in rows if row.rank is None])),
    ]
    if rows and board.chance is not None:
        groups.append(Group(REFERENCE, (tuple(one.chance() for one in drawn),)))
    return Sheet(caption, tuple(one.column for one in drawn), tuple(group for group in groups if group.rows))


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


def _cells(drawn: list[_Drawn], rows: list[BoardRow]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(one.cell(row) for one in drawn) for row in rows)


def _nothing(*, style: str = "none", width: int = 1) -> Cell:
    return Cell(text=figures.NOTHING, sort=None, data=(None,) * width, style=style)


def _rank(board: Board) -> _Drawn:
    styles = tie_styles(row.standing for row in board.rows)

    def cell(row: BoardRow) -> Cell:
        return UNRANKED_CELL if row.rank is None else rank_cell(row.rank, row.standing, styles)

    return _Drawn(rank_column("the models with every task of this board"), cell, lambda: UNRANKED_CELL)


def _model() -> _Drawn:
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
    return _Drawn(column, cell, lambda: chance)


def model_line(model: PublishedModel) -> str:
    """Owner, kind and adapter in a line."""
    parts = [model.owner, figures.kind_title(model.kind), "gated" if model.gated else ""]
    if model.adapter_repo_id:
        parts.append(f"with adapter {model.adapter_repo_id}")
    return " · ".join(part for part in parts if part)


def model_address(model: PublishedModel) -> str:
    """The page of a model, opened at this revision."""
    return f"{reverse('model-detail', args=[model.repo_id])}?revision={model.revision_id}"


def _mean(board: Board, top: float) -> _Drawn:
    is_overall = board.scope == AggregateScope.OVERALL

    def cell(row: BoardRow) -> Cell:
        if row.rank is None or row.mean is None:
            text = f"{row.n_tasks} of {row.n_expected}"
            return Cell(text=text, sort=None, data=(None, None, None), style="score none", title="Tasks evaluated")
        mean = row.mean
        return Cell(
            text=figures.percent(mean.value),
            sort=mean.value,
            data=tuple(figures.csv_percent(value) for value in (mean.value, mean.lower, mean.upper)),
            style="score",
            note=figures.half_width(mean.lower, mean.upper),
            title=f"95% interval {figures.interval(mean.lower, mean.upper)}" if mean.lower is not None else "",
            whisker=whisker(mean.lower, mean.upper, top=top, chance=board.chance),
        )

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
    return _Drawn(column, cell, lambda: chance)


def _cv() -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        if row.rank is None or row.cv is None:
            return _nothing()
        return Cell(text=f"{row.cv:.2f}", sort=row.cv, data=(round(row.cv, 6),))

    column = Column(
        key="cv",
        title="CV",
        explanation="Spread across families: standard deviation of the family means by their mean; lower is more even",
        headers=("cv_across_families",),
        is_text=True,
    )
    return _Drawn(column, cell, _nothing)


def _adjusted() -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        if row.adjusted is None:
            return _nothing()
        return Cell(text=figures.percent(row.adjusted), sort=row.adjusted, data=(figures.csv_percent(row.adjusted),))

    column = Column(
        key="adjusted",
        title="Above chance",
        explanation="Mean of (Hit@1 - chance) / (1 - chance) over the tasks: 0 is chance, 100 is perfect",
        headers=("adjusted_percent",),
        style="wrap",
    )
    zero = Cell(text=figures.percent(0.0), sort=0.0, data=(0.0,), style="none")
    return _Drawn(column, cell, lambda: zero)


def _family(board: Board, family: Family) -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        score = row.groups.get(family.value)
        return _nothing(width=3) if score is None else group_cell(score)

    expected = board.group_chance.get(family.value)
    words = f"; chance {figures.percent(expected)}" if expected is not None else "; no task of it is installed"
    column = Column(
        key=family.value,
        title=family.label,
        explanation=f"{family.label}: mean Hit@1 over the family's tasks{words}",
        headers=tuple(f"{family.value}_{part}" for part in ("hit_at_1_percent", "lower_95", "upper_95")),
        style="wrap",
    )
    return _Drawn(column, cell, lambda: _chance_cell(expected, width=3))


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


def _task(task: BoardTask) -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        score = row.tasks.get(task.pk)
        return _nothing(width=3) if score is None else task_cell(score)

    known = f"{task.n_queries} queries, chance {figures.percent(task.chance)}"
    words = known if task.is_installed else "awaiting data"
    column = Column(
        key=f"task-{task.name}",
        title=task.title,
        explanation=f"{task.name}: Hit@1 in percent; {words}",
        headers=tuple(f"{task.name}_{part}" for part in ("hit_at_1_percent", "lower_95", "upper_95")),
        style="wrap",
    )
    return _Drawn(column, cell, lambda: _chance_cell(task.chance, width=3))


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
        return _nothing(width=width)
    data = (figures.csv_percent(value), *(None,) * (width - 1))
    return Cell(text=figures.percent(value), sort=value, data=data, style="none")


def _parameters() -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        count = row.model.parameters
        style = "" if count is not None else "none"
        return Cell(text=figures.quantity(count), sort=count, data=(count,), style=style)

    column = Column("parameters", "Size", "Number of parameters", ("parameters",))
    return _Drawn(column, cell, _nothing)


def _dimension() -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        size = row.model.dimension
        return _nothing() if size is None else Cell(text=str(size), sort=size, data=(size,))

    column = Column("dimension", "Dim.", "Length of an embedding", ("dimension",))
    return _Drawn(column, cell, _nothing)


def _licence() -> _Drawn:
    def cell(row: BoardRow) -> Cell:
        licence = row.model.licence
        return Cell(
            text=licence or figures.NOTHING,
            sort=licence.lower() or None,
            data=(licence,),
            style="left brief" if licence else "left none",
        )

    column = Column(
        "licence", "Licence", "Licence that the repository states", ("licence",), style="left", is_text=True
    )
    return _Drawn(column, cell, lambda: _nothing(style="left none"))

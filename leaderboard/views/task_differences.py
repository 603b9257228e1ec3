"""The tasks in which compared models differ most."""

from collections.abc import Mapping, Sequence

from django.urls import reverse

from leaderboard.selectors.published import PublishedModel
from leaderboard.selectors.snapshots import TASK_SCOPE, BoardContent, PairDifference
from leaderboard.views import figures
from leaderboard.views.compare_cells import TrainedTasks, difference_cell, difference_column, hit_column
from leaderboard.views.drawn import nothing
from leaderboard.views.sheets import Cell, Column, Group, Sheet
from leaderboard.views.training_cells import TASK_HEADER, score_with_training

Differences = Sequence[Mapping[tuple[str, str], PairDifference]]


def task_difference_sheet(
    models: Sequence[PublishedModel],
    content: BoardContent,
    differences: Differences,
    *,
    suite: str,
    trained: TrainedTasks,
) -> Sheet:
    """The tasks in which any of the models differs most from the first, the largest difference first."""
    largest: dict[str, float] = {}
    for found in differences:
        for one in found.values():
            if one.scope == TASK_SCOPE:
                largest[one.key] = max(largest.get(one.key, 0.0), abs(one.value))
    first, *others = models
    head = Column("task", "Task", "The smallest scored unit", ("task",), is_row_head=True)
    columns = [head, hit_column(first, 0, trained=TASK_HEADER)]
    for number, model in enumerate(others, start=1):
        columns += [hit_column(model, number, trained=TASK_HEADER), difference_column(model, first, number)]
    rows = tuple(
        _row(task, models, content, differences, suite=suite, trained=trained)
        for task in sorted(largest, key=lambda task: (-largest[task], task))
    )
    return Sheet("Tasks in which they differ most", tuple(columns), (Group("", rows),) if rows else ())


def _row(
    task: str,
    models: Sequence[PublishedModel],
    content: BoardContent,
    differences: Differences,
    *,
    suite: str,
    trained: TrainedTasks,
) -> tuple[Cell, ...]:
    values = [_value(content, task, model) for model in models]
    first, *others = (
        score_with_training(_hit_cell(value), is_trained=task in trained[model.revision_id])
        for model, value in zip(models, values, strict=True)
    )
    head = Cell(task, task, (task,), href=reverse("task-detail", args=[suite, task]), is_row_head=True)
    cells = [head, first]
    for hit, value, found in zip(others, values[1:], differences, strict=True):
        known = found.get((TASK_SCOPE, task))
        cells += [hit, difference_cell(known) if known else _plain_difference(value, values[0])]
    return tuple(cells)


def _value(content: BoardContent, task: str, model: PublishedModel) -> float | None:
    standing = content.standing(TASK_SCOPE, task, model.run_id)
    return standing.value if standing else None


def _hit_cell(value: float | None) -> Cell:
    style = "none" if value is None else figures.heat(value)
    return Cell(figures.percent(value), value, (figures.csv_percent(value),), style=style)


def _plain_difference(value: float | None, first: float | None) -> Cell:
    """A difference that is not among this pair's largest: it has no interval here."""
    if value is None or first is None:
        return nothing(width=3, title="Not compared: a score is missing")
    gap = value - first
    return Cell(
        text=figures.points(gap),
        sort=gap,
        data=(figures.csv_percent(gap), None, None),
        style="difference level",
        title="Not among the largest of this pair: no interval is kept",
    )

"""All models on one task as a sheet, with chance below them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from leaderboard.models import Task
from leaderboard.selectors.place_ranks import competition_ranks
from leaderboard.selectors.published import RunOnTask, TaskScore
from leaderboard.selectors.snapshots import TASK_SCOPE, Standing, SuiteStatistics
from leaderboard.views import figures
from leaderboard.views.board_sheet import REFERENCE, model_address, model_line, whisker
from leaderboard.views.drawn import nothing
from leaderboard.views.model_sheets import score_cells
from leaderboard.views.rank_cells import UNRANKED, rank_cell, rank_column, tie_styles
from leaderboard.views.sheets import Cell, Column, Group, Sheet
from leaderboard.views.training_cells import TASK_HEADER, with_header

RESULT_COLUMNS = (
    rank_column("the models with a score on this task"),
    Column("model", "Model", "Repository on the hub", ("model", "commit"), is_text=True, is_row_head=True),
    with_header(
        Column("hit", "Hit@1", "How often the right evidence comes first, in percent", ("hit_at_1_percent",)),
        TASK_HEADER,
    ),
    Column("interval", "95% interval", "From a bootstrap over queries", ("lower_95", "upper_95"), "left"),
    Column("chance", "Chance", "Hit@1 expected of a random order, in percent", ("chance_percent",)),
    Column("adjusted", "Above chance", "(Hit@1 - chance) / (1 - chance), in percent", ("adjusted_percent",), "wrap"),
    Column("queries", "Queries", "Number of queries", ("queries",)),
    Column(
        "ties",
        "Release's ties",
        "Points that the release's rule, which gives every tie to the right candidate, would add",
        ("points_from_ties",),
        "wrap",
    ),
    Column("parameters", "Size", "Number of parameters", ("parameters",)),
)

OTHER_DATA = "Measured on other data than most models: not ranked with them"
SMALLEST_POINTS = 0.0005
"""Fewer points than would be shown are none."""


def result_sheet(
    task: Task, results: Sequence[RunOnTask], statistics: SuiteStatistics | None, *, trained: Collection[int]
) -> Sheet:
    """The best first. Ranks have intervals where statistics are fresh, and are by value elsewhere.

    `trained` has the revisions that were trained on data of the task.
    """
    is_fresh = statistics is not None and statistics.is_fresh
    left_out = {run_id for run_id, names in statistics.left_out.items() if task.name in names} if is_fresh else set()
    ranked = [result for result in results if str(result.model.run_id) not in left_out]
    standings: dict[UUID, Standing | None] = {}
    if is_fresh:
        found = statistics.content
        standings = {
            result.model.run_id: found.standing(TASK_SCOPE, task.name, result.model.run_id) for result in ranked
        }
    ranks = competition_ranks({result.model.run_id: result.score.value for result in ranked})
    styles = tie_styles(standings.values())
    top = figures.axis_top([result.score.upper or result.score.value for result in results])
    rows = tuple(
        _row(result, rank_cell(ranks[result.model.run_id], standings.get(result.model.run_id), styles), top, trained)
        for result in ranked
    )
    others = tuple(_row(result, UNRANKED, top, trained) for result in results if str(result.model.run_id) in left_out)
    chance = (_chance_row(task.chance),) if results and task.chance is not None else ()
    groups = (Group("", rows), Group(OTHER_DATA, others), Group(REFERENCE, chance))
    return Sheet(f"Models on {task.title}", RESULT_COLUMNS, tuple(group for group in groups if group.rows))


def _row(result: RunOnTask, rank: Cell, top: float, trained: Collection[int]) -> tuple[Cell, ...]:
    model, score = result.model, result.score
    hit, interval, *rest = score_cells(score, is_trained=model.revision_id in trained)
    return (
        rank,
        Cell(
            text=model.name,
            sort=model.name.lower(),
            data=(model.repo_id, model.commit),
            note=model_line(model),
            title=model.repo_id,
            href=model_address(model),
            is_row_head=True,
        ),
        hit,
        replace(interval, whisker=whisker(score.lower, score.upper, top=top, chance=score.chance)),
        *rest,
        _ties_cell(score),
        Cell(figures.quantity(model.parameters), model.parameters, (model.parameters,)),
    )


def _ties_cell(score: TaskScore) -> Cell:
    points = score.points_from_ties
    if points is None:
        return nothing()
    data = (figures.csv_percent(points),)
    if points < SMALLEST_POINTS:
        return Cell("0", points, data, style="none")
    return Cell(figures.points(points), points, data)


def _chance_row(chance: float) -> tuple[Cell, ...]:
    percent, data = figures.percent(chance), figures.csv_percent(chance)
    return (
        UNRANKED,
        Cell("Chance", "chance", ("chance", ""), note="expected of a random order of each pool", is_row_head=True),
        Cell(percent, chance, (data, None), style="none"),
        nothing(style="left none", width=2),
        Cell(percent, chance, (data,), style="none"),
        Cell(figures.percent(0.0), 0.0, (0.0,), style="none"),
        nothing(),
        nothing(),
        nothing(),
    )

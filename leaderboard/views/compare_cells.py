"""Columns and cells that comparing models needs in more than one table."""

from collections.abc import Collection, Mapping

from leaderboard.selectors.published import PublishedModel
from leaderboard.selectors.snapshots import PairDifference
from leaderboard.views import figures
from leaderboard.views.drawn import nothing
from leaderboard.views.sheets import Cell, Column
from leaderboard.views.training_cells import with_header

TrainedTasks = Mapping[int, Collection[str]]
"""For each revision the names of the tasks of a suite whose data it was trained on."""


def model_title(model: PublishedModel) -> str:
    """A model with its commit and adapter in a line."""
    adapter = f" with {model.adapter_repo_id}" if model.adapter_repo_id else ""
    return f"{model.repo_id}@{model.commit[:7]}{adapter}"


def hit_column(model: PublishedModel, number: int, *, trained: str) -> Column:
    """The column of a model's Hit@1; `trained` is what files call the value that its daggers stand for."""
    header = f"{model.repo_id}_hit_at_1_percent"
    column = Column(f"hit-{number}", model.name, f"Hit@1 of {model_title(model)} in percent", (header,), "wrap")
    return with_header(column, trained, of=model.repo_id)


def difference_column(model: PublishedModel, first: PublishedModel, number: int) -> Column:
    """The column of a model's differences to the first."""
    return Column(
        f"difference-{number}",
        f"minus {first.name}",
        f"{model_title(model)} minus {model_title(first)}: paired difference in points with its 95% interval",
        tuple(f"{model.repo_id}_{part}" for part in ("difference", "lower_95", "upper_95")),
        "wrap",
    )


def difference_cell(difference: PairDifference | None) -> Cell:
    """A paired difference in points with its interval; a dash where the two were not compared."""
    if difference is None:
        return nothing(width=3, title="Not compared: tasks are missing")
    style = ("better" if difference.value > 0 else "worse") if difference.is_separated else "level"
    return Cell(
        text=figures.points(difference.value),
        sort=difference.value,
        data=tuple(figures.csv_percent(end) for end in (difference.value, difference.lower, difference.upper)),
        style=f"difference {style}",
        note=figures.points_interval(difference.lower, difference.upper),
    )

"""Discrimination Scores as cells: the score with its interval around zero, and its class in words."""

from collections.abc import Iterable, Mapping, Sequence

from leaderboard.models.vocabulary import CellClass, Level
from leaderboard.selectors.probe_rows import Ceiling, ProbeCell, SampleSize, Subgroup
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.board_sheet import model_address, model_line
from leaderboard.views.drawn import nothing
from leaderboard.views.probe_words import level_title
from leaderboard.views.sheets import Cell, Column, Group, Sheet, Whisker

MODEL_COLUMN = Column(
    "model",
    "Model",
    "Repository on the hub; below it the owner and the kind of model",
    ("model", "commit"),
    is_text=True,
    is_row_head=True,
)
LEVEL_COLUMN = Column("level", "Level", "How specific the distinction is", ("level",), "left", is_text=True)
SCORE_PARTS = ("ds", "lower_95", "upper_95", "class")
NOT_MEASURED = "not measured"
LEVELS_OF_HEAT = 4
"""Steps of heat for each level that a model passes: the colour is full where it passes all five."""


def model_cell(model: PublishedModel) -> Cell:
    """The head of a model's row, with the address of its page."""
    return Cell(
        text=model.name,
        sort=model.name.lower(),
        data=(model.repo_id, model.commit),
        note=model_line(model),
        title=model.repo_id,
        href=model_address(model),
        is_row_head=True,
    )


def distinct_names(models: Mapping[str, PublishedModel]) -> dict[str, str]:
    """A short name for each run, with its commit where two would have the same."""
    short = [model.name for model in models.values()]
    return {
        run: model.name if short.count(model.name) == 1 else f"{model.name} {model.commit[:7]}"
        for run, model in models.items()
    }


def score_headers(name: str) -> tuple[str, ...]:
    """The CSV columns of a score."""
    return tuple(f"{name}_{part}" for part in SCORE_PARTS)


def score_cell(
    value: float, lower: float | None, upper: float | None, *, cell_class: str, top: float, title: str = ""
) -> Cell:
    """A score with its interval on an axis from `-top` to `top`, the tick at zero, and the class below it."""
    words = CellClass(cell_class).label
    interval = figures.signed_interval(lower, upper)
    hints = (f"{words}; 95% interval {interval}" if interval else f"{words}; no interval", title)
    return Cell(
        text=figures.signed(value),
        sort=value,
        data=(*(figures.rounded(number) for number in (value, lower, upper)), cell_class),
        style=f"verdict {cell_class}",
        note=words,
        title="; ".join(hint for hint in hints if hint),
        whisker=signed_whisker(lower, upper, top=top),
    )


def cell_of(cell: ProbeCell | None, *, top: float) -> Cell:
    """A probing cell as a table's cell, empty where it was not measured."""
    if cell is None:
        return nothing(width=len(SCORE_PARTS))
    rank = f"rank {figures.rank_interval(cell.rank_lower, cell.rank_upper)} here; {cell.n_anchors} images"
    return score_cell(cell.ds, cell.lower, cell.upper, cell_class=cell.cell_class, top=top, title=rank)


def ceiling_cell(ceiling: Ceiling | None) -> Cell:
    """The level at which a model stops, coloured by how many levels it passes before."""
    if ceiling is None:
        return nothing(style="left none")
    order = Level.values
    passed = order.index(ceiling.ceiling) if ceiling.ceiling else len(ceiling.levels)
    text = level_title(ceiling.ceiling) if ceiling.ceiling else "none"
    measured = ", ".join(ceiling.levels)
    words = f"collapses first at {text}" if ceiling.ceiling else "collapses at no measured level"
    return Cell(
        text=text,
        sort=passed,
        data=(ceiling.ceiling or "none",),
        style=f"left stop heat heat-{min(passed, len(order)) * LEVELS_OF_HEAT}",
        title=f"{words}; measured: {measured}",
    )


def signed_whisker(lower: float | None, upper: float | None, *, top: float) -> Whisker | None:
    """An interval on an axis from `-top` to `top` with a tick at zero, at least wide enough to be seen."""
    if lower is None or upper is None:
        return None
    start, end = (min(100.0, max(0.0, (value + top) / (2 * top) * 100)) for value in (lower, upper))
    width = max(1.0, end - start)
    return Whisker(start=round(min(start, 100 - width), 2), width=round(width, 2), chance=50)


def axis_end(cells: Iterable[ProbeCell | Subgroup | SampleSize]) -> float:
    """Where the axis of all scores of a table ends: the next full tenth that holds every interval."""
    ends = [abs(end) for cell in cells for end in (cell.ds, cell.lower, cell.upper) if end is not None]
    return figures.axis_top([min(1.0, end) for end in ends])


def spaced(name: str) -> str:
    """A name of the data as words."""
    return name.replace("_", " ")


def rows_sheet(caption: str, columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]]) -> Sheet:
    """A table of one group; without rows it has none."""
    return Sheet(caption, columns, (Group("", tuple(rows)),) if rows else ())


def number_cell(value: float | None, *, words: str = "", style: str = "") -> Cell:
    """A number that may be negative, written with its sign unless `words` say it otherwise."""
    text = words or figures.signed(value)
    return Cell(text, value, (figures.rounded(value),), style=style or ("none" if value is None else ""))


def count_cell(value: int) -> Cell:
    """A whole number."""
    return Cell(str(value), value, (value,))

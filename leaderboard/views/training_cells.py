"""What tables show of training data: daggers beside figures, a column of it, and ranks and means without it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from django.http import HttpRequest

from leaderboard.models.vocabulary import AggregateScope, TrainingDataStatement
from leaderboard.selectors.board_rows import Board, BoardRow
from leaderboard.selectors.probe_board_rows import ProbeBoardRow, ProbeTable
from leaderboard.selectors.published import PublishedModel
from leaderboard.views import figures
from leaderboard.views.drawn import Drawn, nothing
from leaderboard.views.model_columns import HEADING
from leaderboard.views.rank_cells import place_cell
from leaderboard.views.sheets import Cell, Column

SPOKEN = "trained on"
"""What a dagger says to those who do not see it."""
CLEAN = "clean"
"""Asks a board for ranks and means without the tasks that a model was trained on."""
LEFT_OUT = "without the tasks whose data the model was trained on"
UNKNOWN, NONE = "unknown", "none"
MOST_NAMES = 6
ON_TASK, ON_IMAGES = "trained on data of this task", "trained on these images"
TASK_HEADER, GROUP_HEADER = "known_trained_on_task", "known_trained_on_tasks"
"""What files call the value that daggers stand for: of the score of a task, and of a mean over tasks."""


def asks_for_clean(request: HttpRequest) -> bool:
    """Whether an address asks for ranks without training data."""
    return request.GET.get("ranks") == CLEAN


def marked(cell: Cell, words: str) -> Cell:
    """A cell with a dagger; `words` say more on pointing at it."""
    return replace(cell, dagger=SPOKEN, title="; ".join(part for part in (words, cell.title) if part))


def with_header(column: Column, header: str, *, of: str = "") -> Column:
    """The column of a figure with one more value in files: what its model was trained on. `of` says whose it is."""
    return replace(column, headers=(*column.headers, f"{of}_{header}" if of else header))


def score_with_training(cell: Cell, *, is_trained: bool) -> Cell:
    """The score of a task with a dagger where the model was trained on its data, which files say too."""
    return _told(cell, is_trained, ON_TASK)


def mean_with_training(cell: Cell, n_trained: int | None) -> Cell:
    """A mean with a dagger where the model was trained on data of some of its tasks; files say of how many.

    None: nobody has counted them.
    """
    return _told(cell, n_trained, _trained_words(n_trained or 0))


def _told(cell: Cell, found: int | None, words: str) -> Cell:
    """The cell with what was found of training data for files, and with a dagger where there is any behind it."""
    if cell.sort is None:
        return replace(cell, data=(*cell.data, None))
    told = replace(cell, data=(*cell.data, found))
    return marked(told, words) if found else told


def names_of(models: Iterable[PublishedModel], revisions: Collection[int]) -> list[str]:
    """The names of the models of these revisions, each once."""
    return sorted({model.repo_id for model in models if model.revision_id in revisions}, key=str.lower)


def group_mark(cell: Cell, row: BoardRow, key: str, *, is_clean: bool) -> Cell:
    """The mean of a group with a dagger where the model was trained on data of a task of it."""
    clean = row.clean_groups.get(key)
    if clean is None:
        return cell
    if not is_clean:
        return marked(cell, _trained_words(clean.n_excluded))
    if clean.value is None:
        return marked(replace(nothing(width=len(cell.data)), title=""), "no task of it is left: trained on all of them")
    return marked(cell, f"{_tasks(clean.n_excluded)} of it left out, {_tasks(clean.n_tasks)} counted")


def task_mark(cell: Cell, row: BoardRow, name: str, *, is_clean: bool) -> Cell:
    """The figure of a task with a dagger where the model was trained on its data."""
    if name not in row.contaminated:
        return cell
    return marked(cell, ON_TASK + (", so left out of rank and mean" if is_clean else ""))


def mean_mark(cell: Cell, row: BoardRow) -> Cell:
    """The mean of a board with a dagger where it is taken over tasks that the model was trained on."""
    if not row.contaminated or row.rank is None:
        return cell
    return marked(cell, f"holds {_tasks(len(row.contaminated))} whose data the model was trained on")


def clean_rank(by: str) -> Drawn:
    """The column of ranks without training data; `by` says by what."""
    column = Column(
        key="rank",
        title="Clean rank",
        explanation=f"Place by the {by} {LEFT_OUT}; equal ones share a place. No interval is computed for it",
        headers=("clean_rank",),
        style="wrap",
        is_text=True,
    )
    return Drawn(column, lambda row: place_cell(row.rank), lambda: place_cell(None))


def clean_mean(board: Board) -> Drawn:
    """The column of means without training data, of a board that `selectors.clean_boards` has made."""
    is_overall = board.scope == AggregateScope.OVERALL

    def cell(row: BoardRow) -> Cell:
        if row.rank is None or row.mean is None:
            text = f"{row.n_tasks} of {row.n_expected}"
            return Cell(text=text, sort=None, data=(None, row.n_tasks), style="score none", title="Tasks counted")
        return Cell(
            text=figures.percent(row.mean.value),
            sort=row.mean.value,
            data=(figures.csv_percent(row.mean.value), row.n_tasks),
            style="score",
            note=f"{row.n_tasks} of {row.n_expected}" if row.contaminated else "",
            title=f"{_tasks(len(row.contaminated))} left out" if row.contaminated else "No task left out",
        )

    column = Column(
        key="mean",
        title="Clean mean of families" if is_overall else "Clean mean of tasks",
        explanation="Hit@1 in percent, "
        + ("mean of the families' means, " if is_overall else "mean of the tasks on this board, ")
        + f"{LEFT_OUT}; where tasks are left out, how many are counted stands beside it",
        headers=("clean_mean_hit_at_1_percent", "clean_mean_tasks"),
        style="wrap",
    )
    chance = Cell(
        text=figures.percent(board.chance),
        sort=board.chance,
        data=(figures.csv_percent(board.chance), None),
        style="score none",
    )
    return Drawn(column, cell, lambda: chance)


def trained_on(board: Board | ProbeTable, *, is_clean: bool) -> Drawn:
    """The column that says how many tasks of the board a model was trained on, and what its submitter declared."""

    def cell(row: BoardRow | ProbeBoardRow) -> Cell:
        number = len(row.contaminated)
        is_known = bool(number) or row.training_data != TrainingDataStatement.UNKNOWN
        text = _tasks(number) if number else NONE if is_known else UNKNOWN
        return Cell(
            text=text,
            sort=number if is_known else None,
            data=(number if is_known else None, row.training_data, "; ".join(row.contaminated)),
            style="" if number else "none",
            title=_names(row.contaminated),
        )

    column = Column(
        key="trained-on",
        title="Trained on",
        explanation="Tasks of this board whose data the model was trained on, as its submitter declared or an"
        " administrator found; unknown: nobody has said",
        headers=("trained_on_tasks", "training_data_declared", "trained_on_task_names"),
    )
    is_default = is_clean or any(row.contaminated for row in board.rows)
    return Drawn(column, cell, lambda: nothing(width=3), heading=HEADING, is_default=is_default)


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def _trained_words(n_tasks: int) -> str:
    return f"trained on data of {_tasks(n_tasks)} of it"


def _tasks(number: int) -> str:
    return "1 task" if number == 1 else f"{number} tasks"

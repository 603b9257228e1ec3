"""A board ranked once more by what is left without the tasks whose data a model was trained on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from leaderboard.models import Task
from leaderboard.models.vocabulary import AggregateScope
from leaderboard.selectors.board_rows import TRAINED_ON, Board, BoardRow, GroupScore, Missing, board_order
from leaderboard.selectors.clean_means import CleanMean, clean_mean
from leaderboard.selectors.place_ranks import competition_ranks
from leaderboard.selectors.probe_board_rows import ProbeBoardRow, ProbeTable, probe_board_order


def row_clean_mean(
    scores: Mapping[int, float], tasks: Sequence[Task], contaminated: Iterable[int], *, is_overall: bool
) -> CleanMean:
    """The clean mean of a complete row: of the family means on the overall board, of the tasks on the others.

    `scores` is Hit@1 in [0, 1] by the id of the task, `tasks` those that the board takes its means over.
    """
    families = {task.pk: task.family if is_overall else "" for task in tasks}
    return clean_mean(scores, families=families, contaminated=set(contaminated))


def clean_groups(
    scores: Mapping[int, float],
    tasks: Sequence[Task],
    contaminated: Iterable[int],
    *,
    scopes: Sequence[AggregateScope],
) -> dict[str, CleanMean]:
    """The clean means of those groups, by key, in which a task with a score is contaminated."""
    excluded = set(contaminated)
    touched: dict[tuple[str, str], None] = {}
    for task in tasks:
        if task.pk in excluded and task.pk in scores:
            touched |= dict.fromkeys((scope.value, getattr(task, scope.value)) for scope in scopes)
    found = {}
    for axis, key in touched:
        members = {task.pk: key for task in tasks if getattr(task, axis) == key}
        own = {task: scores[task] for task in members if task in scores}
        found[key] = clean_mean(own, families=members, contaminated=excluded)
    return found


def with_clean_ranks(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Rows with their places among those that have a clean mean; equal means share a place."""
    ranks = competition_ranks(
        {row.model.run_id: row.clean.value for row in rows if row.clean is not None and row.clean.value is not None}
    )
    return [replace(row, clean_rank=ranks.get(row.model.run_id)) for row in rows]


def clean_board(board: Board) -> Board:
    """A board with clean means and clean ranks in the place of its own, which have no intervals.

    A row of whose tasks, or of one of whose families, nothing is left has no rank and says why.
    """
    return replace(board, rows=tuple(sorted((_clean_row(row) for row in board.rows), key=board_order)))


def _clean_row(row: BoardRow) -> BoardRow:
    touched = {key: _clean_group(row.groups[key], mean) for key, mean in row.clean_groups.items() if key in row.groups}
    groups = {**row.groups, **touched} if touched else row.groups
    if row.clean is None:
        return replace(row, groups=groups)
    clean = row.clean
    return replace(
        row,
        rank=row.clean_rank,
        mean=None if clean.value is None else GroupScore(clean.value, None, None, clean.n_tasks, row.n_expected),
        cv=None,
        adjusted=None,
        n_tasks=clean.n_tasks,
        groups=groups,
        missing=(Missing(TRAINED_ON, clean.n_excluded),) if clean.value is None else (),
        standing=None,
    )


def _clean_group(score: GroupScore, clean: CleanMean) -> GroupScore:
    """The clean mean of a group; one that nothing is left of, or that lacked tasks before, is not complete."""
    if clean.value is None or not score.is_complete:
        return replace(score, lower=None, upper=None, n_tasks=clean.n_tasks)
    return GroupScore(clean.value, None, None, clean.n_tasks, clean.n_tasks)


def clean_table(table: ProbeTable) -> ProbeTable:
    """A board of a probing suite with clean counts and clean ranks in the place of its own.

    Of a row, no cell is expected any more of those that its model was trained on; one that nothing is left of has no
    rank, although it lacks no cell.
    """
    return replace(table, rows=tuple(sorted((_clean_probe_row(row) for row in table.rows), key=probe_board_order)))


def _clean_probe_row(row: ProbeBoardRow) -> ProbeBoardRow:
    if row.clean is None:
        return row
    return replace(row, rank=row.clean_rank, count=row.clean, n_expected=row.clean.n_measured)

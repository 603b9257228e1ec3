"""What boards consist of: rows of published runs, their means, costs, and what is missing from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from leaderboard.models.vocabulary import AggregateScope, TrainingDataStatement
from leaderboard.selectors.clean_means import CleanMean
from leaderboard.selectors.published import PublishedModel, TaskScore
from leaderboard.selectors.snapshots import Standing

OTHER_DATA = "other_data"
"""Why a task is missing from a row that has a score in it: most other runs were measured on other data."""

TRAINED_ON = "trained_on"
"""Why a row has no mean without training data: the model was trained on the data of these tasks."""


@dataclass(frozen=True, slots=True)
class GroupScore:
    """A mean over the evaluated tasks of a group, in [0, 1], with its 95% interval."""

    value: float
    lower: float | None
    upper: float | None
    n_tasks: int
    n_expected: int

    @property
    def is_complete(self) -> bool:
        """Whether every task of the group was evaluated."""
        return self.n_tasks == self.n_expected


@dataclass(frozen=True, slots=True)
class Missing:
    """Tasks that a run has no score for, by reason.

    `code` is the error's, the task run's state where it did not fail, `OTHER_DATA`, or empty where the run never had
    them.
    """

    code: str
    n_tasks: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run cost as a whole, as far as workers recorded it.

    Inputs (of the tasks that this run itself evaluated) a second of embedding, where tasks that share inputs embed them
    once; the greatest memory of the process in bytes; and the device that it ran on, empty while unknown.
    """

    inputs_per_second: float | None = None
    peak_memory_bytes: int | None = None
    device: str = ""


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One published run on a board.

    `rank` is None for an incomplete one. `standing` is where the statistics place it, None while there are none.
    `groups` is on the overall board the mean of each family, domain, evidence form and split by its key; `tasks` is by
    task on the others, where there are few enough for columns. `adjusted` is the mean over the tasks of
    (hit - chance) / (1 - chance), only for a complete row. `submitted_at` is when the revision first came to the site.

    `contaminated` names the tasks with a score whose data the model was trained on. `clean` is the mean without them
    and `clean_rank` the place by it, None for an incomplete row or one without such a mean; `clean_groups` is by key, of
    the groups that have such a task. `training_data` is what submitters declared.
    """

    model: PublishedModel
    rank: int | None
    mean: GroupScore | None
    cv: float | None
    n_tasks: int
    n_expected: int
    groups: Mapping[str, GroupScore] = field(default_factory=dict)
    tasks: Mapping[int, TaskScore] = field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    standing: Standing | None = None
    adjusted: float | None = None
    cost: Cost = Cost()
    submitted_at: datetime | None = None
    contaminated: tuple[str, ...] = ()
    clean: CleanMean | None = None
    clean_rank: int | None = None
    clean_groups: Mapping[str, CleanMean] = field(default_factory=dict)
    training_data: str = TrainingDataStatement.UNKNOWN.value


def board_order(row: BoardRow) -> tuple[bool, int, int, str, int]:
    """Complete rows by rank, then the others by coverage and name."""
    return (row.rank is None, row.rank or 0, -row.n_tasks, row.model.repo_id.lower(), row.model.revision_id)


@dataclass(frozen=True, slots=True)
class BoardTask:
    """A column of a family or domain board."""

    pk: int
    name: str
    title: str
    chance: float | None
    n_queries: int | None
    is_installed: bool


@dataclass(frozen=True, slots=True)
class Board:
    """A board: complete rows by rank, then incomplete ones by coverage.

    `chance` is the mean of the tasks' chance levels, taken as the board takes its scores (a mean of family means on
    the overall board). `device` is what most of its runs ran on; costs of other runs cannot be compared with theirs.
    """

    scope: AggregateScope
    key: str
    rows: tuple[BoardRow, ...]
    tasks: tuple[BoardTask, ...] = ()
    chance: float | None = None
    group_chance: Mapping[str, float] = field(default_factory=dict)
    device: str = ""

    def row_of(self, run_id: UUID) -> BoardRow | None:
        """The row of a run, if it stands on the board."""
        return next((row for row in self.rows if row.model.run_id == run_id), None)

    @property
    def n_ranked(self) -> int:
        """How many rows have a rank."""
        return sum(row.rank is not None for row in self.rows)

"""Makes every board of a retrieval suite from a snapshot and the runs that it covers, for a worker to store."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from leaderboard.models import BoardSnapshot, Run, Score, Task, TaskRun
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope, TaskRunState, release_groups
from leaderboard.selectors.board_rows import (
    OTHER_DATA,
    Board,
    BoardRow,
    BoardTask,
    Cost,
    GroupScore,
    Missing,
    board_order,
)  # fmt: skip
from leaderboard.selectors.clean_boards import clean_groups, row_clean_mean, with_clean_ranks
from leaderboard.selectors.known_training import KnownTraining
from leaderboard.selectors.published import TaskScore, published_model
from leaderboard.selectors.run_costs import run_costs, runs_with_devices, usual_device
from leaderboard.selectors.snapshots import BoardContent, Standing, board_content

MOST_TASK_COLUMNS = 40
"""A board of more tasks holds their mean alone; each task has a page."""
OVERVIEW_SCOPES = (AggregateScope.FAMILY, AggregateScope.DOMAIN, AggregateScope.EVIDENCE_FORM, AggregateScope.SPLIT)
"""The axes whose means stand on the overall board."""


def boards_of_snapshot(snapshot: BoardSnapshot, training: Mapping[UUID, KnownTraining]) -> Iterator[Board]:
    """The overall board and one for each group of every axis, complete rows first. Five queries in all.

    `training` is what is known of the training data of each run's model.
    """
    measured = _measured(snapshot, training)
    yield _overall(measured)
    for scope, choices in CHOICES_OF.items():
        for key in choices.values:
            yield _group(measured, scope, key)


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a snapshot covers: runs, tasks, scores by run and task, the state and error of task runs, and costs.

    `training` is what is known of the training data of each run's model.
    """

    content: BoardContent
    left_out: Mapping[str, Sequence[str]]
    runs: Sequence[Run]
    tasks: Sequence[Task]
    scores: Mapping[UUID, Mapping[int, TaskScore]]
    states: Mapping[tuple[UUID, int], str]
    costs: Mapping[UUID, Cost]
    training: Mapping[UUID, KnownTraining]

    @property
    def device(self) -> str:
        """What most runs ran on."""
        return usual_device(self.costs.values())


def _measured(snapshot: BoardSnapshot, training: Mapping[UUID, KnownTraining]) -> _Measured:
    runs = runs_with_devices(snapshot.runs)
    return _Measured(
        content=board_content(snapshot.content),
        left_out=snapshot.left_out,
        runs=runs,
        tasks=list(Task.objects.filter(suite=snapshot.suite_id).order_by("position")),
        scores=_scores(snapshot.runs),
        states={
            (run_id, task_id): SUCCESS if state == TaskRunState.SUCCEEDED else code or state
            for run_id, task_id, state, code in TaskRun.objects.filter(run__in=snapshot.runs)
            .order_by()
            .values_list("run_id", "task_id", "state", "error_code")
        },
        costs=run_costs(runs),
        training=training,
    )


SUCCESS = ""
"""In the place of a reason why a task run has no score."""


def _scores(run_ids: Sequence[UUID]) -> dict[UUID, dict[int, TaskScore]]:
    stored = (
        Score.objects.filter(is_main=True, task_run__run__in=run_ids)
        .order_by()
        .values_list(
            "task_run__run_id", "task_run__task_id", "value", "lower", "upper", "task_run__chance",
            "task_run__hit_at_1_optimistic", "task_run__hit_at_1_pessimistic", "task_run__n_queries",
        )
    )  # fmt: skip
    found: dict[UUID, dict[int, TaskScore]] = {}
    for run_id, task_id, *numbers in stored:
        found.setdefault(run_id, {})[task_id] = TaskScore(*numbers)
    return found


def _overall(measured: _Measured) -> Board:
    installed = [task for task in measured.tasks if task.is_installed]
    chances = group_chances(installed)
    families = [chances[key] for key in CHOICES_OF[AggregateScope.FAMILY].values if key in chances]
    return Board(
        scope=AggregateScope.OVERALL,
        key="",
        rows=_rows(measured, AggregateScope.OVERALL, "", installed),
        chance=_mean(families) if families else None,
        group_chance=chances,
        device=measured.device,
    )


def group_chances(tasks: Iterable[Task]) -> dict[str, float]:
    """The mean chance level of each family, domain, evidence form and split that has a task, by its key."""
    chances: dict[str, list[float]] = {}
    for task in tasks:
        for scope in OVERVIEW_SCOPES:
            chances.setdefault(getattr(task, scope.value), []).append(task.chance)
    return {key: _mean(values) for key, values in chances.items()}


def _group(measured: _Measured, scope: AggregateScope, key: str) -> Board:
    members = [task for task in measured.tasks if key in keys_of(task, scope)]
    installed = [task for task in members if task.is_installed]
    return Board(
        scope=scope,
        key=key,
        rows=_rows(measured, scope, key, installed),
        tasks=tuple(board_task(task) for task in members),
        chance=_mean(task.chance for task in installed) if installed else None,
        device=measured.device,
    )


def board_task(task: Task) -> BoardTask:
    """A task as a column of its boards."""
    return BoardTask(task.pk, task.name, task.title, task.chance, task.n_queries, task.is_installed)


def keys_of(task: Task, scope: AggregateScope) -> tuple[str, ...]:
    """The groups of a scope that a task belongs to."""
    if scope == AggregateScope.RELEASE_GROUP:
        return release_groups(evidence_form=task.evidence_form, split=task.split)
    return (getattr(task, scope.value),)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _rows(measured: _Measured, scope: AggregateScope, key: str, tasks: Sequence[Task]) -> tuple[BoardRow, ...]:
    rows = [_row(measured, run, scope, key, tasks) for run in measured.runs]
    return tuple(sorted(with_clean_ranks(rows), key=board_order))


def _row(measured: _Measured, run: Run, scope: AggregateScope, key: str, tasks: Sequence[Task]) -> BoardRow:
    standing = measured.content.standing(scope.value, key, run.pk)
    is_overall = scope == AggregateScope.OVERALL
    rank = standing.rank if standing else None
    scores = measured.scores.get(run.pk, {})
    own = {task.pk: scores[task.pk] for task in tasks if task.pk in scores}
    cv = measured.content.analysis("cv", run.pk) if is_overall else None
    training = measured.training.get(run.pk, KnownTraining())
    hits = {task: score.value for task, score in own.items()}
    return BoardRow(
        model=published_model(run),
        rank=rank,
        mean=score_of(standing),
        cv=cv.value if cv else None,
        n_tasks=standing.n_tasks if standing else 0,
        n_expected=len(tasks),
        groups=_groups(measured.content, run.pk) if is_overall else {},
        tasks=own if not is_overall and len(tasks) <= MOST_TASK_COLUMNS else {},
        missing=() if rank is not None else _missing(measured, run, tasks),
        standing=standing,
        adjusted=_mean(score.adjusted for score in own.values()) if own and rank is not None else None,
        cost=measured.costs[run.pk],
        submitted_at=run.revision.created_at,
        contaminated=tuple(task.name for task in tasks if task.pk in training.tasks and task.pk in own),
        clean=row_clean_mean(hits, tasks, training.tasks, is_overall=is_overall) if rank is not None else None,
        clean_groups=clean_groups(hits, tasks, training.tasks, scopes=OVERVIEW_SCOPES) if is_overall else {},
        training_data=training.statement.value,
    )


def score_of(standing: Standing | None) -> GroupScore | None:
    """The mean that a standing is of."""
    if standing is None:
        return None
    return GroupScore(standing.value, standing.lower, standing.upper, standing.n_tasks, standing.n_expected)


def _groups(content: BoardContent, run_id: UUID) -> dict[str, GroupScore]:
    found = {
        key: score_of(content.standing(scope.value, key, run_id))
        for scope in OVERVIEW_SCOPES
        for key in CHOICES_OF[scope].values
    }
    return {key: score for key, score in found.items() if score is not None}


def _missing(measured: _Measured, run: Run, tasks: Sequence[Task]) -> tuple[Missing, ...]:
    """Why a run lacks tasks: failures by code, other data, and what it never had because the data came later."""
    left_out = measured.left_out.get(str(run.pk), ())
    reasons: Counter[str] = Counter()
    for task in tasks:
        reason = measured.states.get((run.pk, task.pk))
        if reason is None:
            reasons[""] += 1
        elif reason != SUCCESS:
            reasons[reason] += 1
        elif task.name in left_out:
            reasons[OTHER_DATA] += 1
    return missing_reasons(reasons)


def missing_reasons(reasons: Mapping[str, int]) -> tuple[Missing, ...]:
    """Counted reasons: the most frequent first, tasks that a run never had (an empty code) last."""
    return tuple(
        Missing(code, count)
        for code, count in sorted(reasons.items(), key=lambda item: (not item[0], -item[1], item[0]))
    )

"""Reads one run: its facts, its tasks, how far it is, and its history."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, FilteredRelation, Q

from leaderboard.models import Run, RunEvent, Task, TaskRun
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, ENDED_TASK_STATES, RunState, TaskKind, TaskRunState
from leaderboard.selectors.published import MAIN_METRIC
from leaderboard.selectors.queue_times import ExpectedStart, expected_starts
from leaderboard.selectors.run_words import STATE_SENTENCES, next_step


@dataclass(frozen=True, slots=True)
class SuiteFacts:
    """The suite that a run is about."""

    slug: str
    version: str
    title: str
    synthetic: bool
    kind: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What a run is, and where it stands. Adapter and errors are '' where there is none."""

    run_id: UUID
    repo_id: str
    commit: str
    adapter_repo_id: str
    adapter_commit: str
    family: str
    parameters: int | None
    suite: SuiteFacts
    attempt: int
    priority_title: str
    state: str
    state_title: str
    is_active: bool
    is_published: bool
    requested_by_id: int
    requested_by: str
    submission_id: UUID | None
    rerun_of_id: UUID | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    published_at: datetime | None
    error_code: str
    error_kind: str
    error_message: str
    seed: int
    code_version: str
    model_description: dict[str, Any]
    environment: dict[str, Any]

    @property
    def state_sentence(self) -> str:
        """The state in words."""
        return STATE_SENTENCES[self.state]

    @property
    def next_step(self) -> str:
        """What to do after a failure."""
        return next_step(self.error_kind)

    @property
    def can_be_published(self) -> bool:
        """Whether it has a result that is not on the boards."""
        return self.state == RunState.SUCCEEDED and not self.is_published


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task of a run, with its main metric; the value is None until the task has succeeded.

    `worker` is the one that ended it or has it in hand, empty where nobody has.
    """

    name: str
    title: str
    group_titles: str
    state: str
    state_title: str
    inputs_done: int
    inputs_total: int
    metric: str
    value: float | None
    lower: float | None
    upper: float | None
    chance: float | None
    n_queries: int | None
    seconds: float | None
    started_at: datetime | None
    finished_at: datetime | None
    worker: str
    is_carried: bool
    error_code: str
    error_kind: str
    error_message: str

    @property
    def next_step(self) -> str:
        """What to do after a failure."""
        return next_step(self.error_kind)


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run is.

    `mean_hit_at_1` is the plain mean over the retrieval tasks that succeeded, None before the first.
    """

    n_tasks: int
    n_succeeded: int
    n_failed: int
    n_ended: int
    current: tuple[TaskRow, ...]
    mean_hit_at_1: float | None
    place_in_queue: int | None
    expected_start: ExpectedStart | None

    @property
    def number_in_hand(self) -> int:
        """The ordinal of the first task in hand, from 1: the N of "task N of M"."""
        return min(self.n_ended + 1, self.n_tasks)


@dataclass(frozen=True, slots=True)
class EventRow:
    """A line of a run's history."""

    at: datetime
    from_title: str
    to_state: str
    to_title: str
    actor: str
    reason: str

    @property
    def is_transition(self) -> bool:
        """Whether the state changed."""
        return self.from_title != self.to_title


@dataclass(frozen=True, slots=True)
class RunDetail:
    """Everything that a run's page shows."""

    facts: RunFacts
    tasks: tuple[TaskRow, ...]
    progress: RunProgress
    events: tuple[EventRow, ...] = ()


def run_detail(run_id: UUID, *, with_events: bool = True) -> RunDetail | None:
    """A run with its tasks in the suite's order and, unless left out, its history; None when there is no such run."""
    run = Run.objects.select_related("revision__model", "suite", "requested_by").filter(pk=run_id).first()
    if run is None:
        return None
    tasks = tuple(_task_rows(run_id))
    return RunDetail(
        facts=_facts(run),
        tasks=tasks,
        progress=_progress(tasks, *_standing(run)),
        events=tuple(_event_rows(run_id)) if with_events else (),
    )


def place_in_queue(run: Run) -> int | None:
    """Which one in the line of waiting runs this is, from 1; None when it does not wait."""
    return _standing(run)[0]


def _standing(run: Run) -> tuple[int | None, ExpectedStart | None]:
    """A waiting run's place in the line, from 1, and when it is expected to start."""
    starts = expected_starts() if run.state == RunState.QUEUED else {}
    return (list(starts).index(run.pk) + 1, starts[run.pk]) if run.pk in starts else (None, None)


def _facts(run: Run) -> RunFacts:
    revision, suite = run.revision, run.suite
    return RunFacts(
        run_id=run.pk,
        repo_id=revision.model.repo_id,
        commit=revision.commit,
        adapter_repo_id=revision.adapter_repo_id,
        adapter_commit=revision.adapter_commit,
        family=revision.model.family,
        parameters=revision.model.parameters,
        suite=SuiteFacts(
            slug=suite.slug, version=suite.version, title=suite.title, synthetic=suite.synthetic, kind=suite.kind
        ),
        attempt=run.attempt,
        priority_title=run.get_priority_display(),
        state=run.state,
        state_title=run.get_state_display(),
        is_active=run.state in ACTIVE_RUN_STATES,
        is_published=run.is_published,
        requested_by_id=run.requested_by_id,
        requested_by=run.requested_by.get_username(),
        submission_id=run.submission_id,
        rerun_of_id=run.rerun_of_id,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        published_at=run.published_at,
        error_code=run.error_code,
        error_kind=run.error_kind,
        error_message=run.error_message,
        seed=run.seed,
        code_version=run.code_version,
        model_description=run.model_description,
        environment=run.environment,
    )


def _task_rows(run_id: UUID) -> list[TaskRow]:
    """The tasks in order, each with its main score, in one query and without the stored ranks."""
    task_runs = (
        TaskRun.objects.filter(run_id=run_id)
        .select_related("task")
        .defer("outcomes", "first_ranked")
        .annotate(main=FilteredRelation("scores", condition=Q(scores__is_main=True)))
        .annotate(main_metric=F("main__metric"))
        .annotate(main_value=F("main__value"), main_lower=F("main__lower"), main_upper=F("main__upper"))
        .order_by("task__position")
    )
    return [_task_row(task_run) for task_run in task_runs]


def _task_row(task_run: Any) -> TaskRow:
    """A row of an annotated task run."""
    times = (task_run.seconds_embedding, task_run.seconds_ranking)
    return TaskRow(
        name=task_run.task.name,
        title=task_run.task.title,
        group_titles=_group_titles(task_run.task),
        state=task_run.state,
        state_title=task_run.get_state_display(),
        inputs_done=task_run.inputs_done,
        inputs_total=task_run.inputs_total,
        metric=task_run.main_metric or "",
        value=task_run.main_value,
        lower=task_run.main_lower,
        upper=task_run.main_upper,
        chance=task_run.chance,
        n_queries=task_run.n_queries,
        seconds=None if None in times else sum(times),
        started_at=task_run.started_at,
        finished_at=task_run.finished_at,
        worker=task_run.finished_by or task_run.lease_owner,
        is_carried=task_run.carried_from_id is not None,
        error_code=task_run.error_code,
        error_kind=task_run.error_kind,
        error_message=task_run.error_message,
    )


def _group_titles(task: Task) -> str:
    """The groups that a task belongs to, in words."""
    if task.kind == TaskKind.RETRIEVAL:
        return f"{task.get_family_display()}, {task.get_domain_display().lower()}"
    parts = (task.get_kind_display(), task.get_modality_display(), task.get_level_display())
    return ", ".join(part for part in parts if part)


def _progress(
    tasks: Sequence[TaskRow], place_in_queue: int | None, expected_start: ExpectedStart | None
) -> RunProgress:
    values = [task.value for task in tasks if task.metric == MAIN_METRIC and task.value is not None]
    return RunProgress(
        n_tasks=len(tasks),
        n_succeeded=sum(task.state == TaskRunState.SUCCEEDED for task in tasks),
        n_failed=sum(task.state == TaskRunState.FAILED for task in tasks),
        n_ended=sum(task.state in ENDED_TASK_STATES for task in tasks),
        current=tuple(task for task in tasks if task.state == TaskRunState.CLAIMED),
        mean_hit_at_1=sum(values) / len(values) if values else None,
        place_in_queue=place_in_queue,
        expected_start=expected_start,
    )


def _event_rows(run_id: UUID) -> list[EventRow]:
    return [
        EventRow(
            at=event.at,
            from_title=_title(event.from_state),
            to_state=event.to_state,
            to_title=_title(event.to_state),
            actor=event.actor,
            reason=event.reason,
        )
        for event in RunEvent.objects.filter(run_id=run_id)
    ]


def _title(state: str) -> str:
    return str(RunState(state).label) if state else ""

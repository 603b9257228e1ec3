"""Reads what waits, what is worked on, what has ended lately, and who works."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone

from leaderboard.models import Run, SubmissionPause, TaskRun, Worker, WorkerClassPause
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, ENDED_TASK_STATES, FINAL_RUN_STATES, RunState
from leaderboard.selectors.queue_times import ExpectedStart, expected_starts, silence_of_the_lost

RECENT_RUNS = 10
WAITING_SHOWN = 50
"""Waiting runs on one page."""
WORKERS_REMEMBERED = timedelta(days=1)
UNSEALED = "none"


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run in the queue page's lists.

    `place` is the place among waiting runs, from 1, and `expected` when it is expected to start; both are None when it
    does not wait, and `expected` also while no worker is up that can hold it. What `is_private` names is not for the
    public.
    """

    run_id: UUID
    repo_id: str
    commit: str
    adapter_repo_id: str
    suite_title: str
    synthetic: bool
    attempt: int
    priority_title: str
    state: str
    state_title: str
    is_published: bool
    is_private: bool
    n_tasks: int
    n_ended: int
    created_at: datetime
    finished_at: datetime | None
    worker_class: str
    retry_at: datetime | None
    place: int | None
    expected: ExpectedStart | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker that has been seen within the last day."""

    name: str
    device: str
    worker_class: str
    versions: dict[str, Any]
    started_at: datetime
    last_seen_at: datetime
    is_up: bool
    current_run_id: UUID | None
    current_repo_id: str
    is_private: bool


@dataclass(frozen=True, slots=True)
class Pause:
    """An open pause of submissions."""

    reason: str
    started_at: datetime
    started_by: str


@dataclass(frozen=True, slots=True)
class ClassPause:
    """An open pause of a class of workers."""

    worker_class: str
    title: str
    reason: str
    started_at: datetime
    started_by: str


@dataclass(frozen=True, slots=True)
class Pauses:
    """What is paused at present; `submissions` is None while they are taken."""

    submissions: Pause | None
    classes: tuple[ClassPause, ...]

    @property
    def class_names(self) -> frozenset[str]:
        """The classes whose workers take no work."""
        return frozenset(pause.worker_class for pause in self.classes)


@dataclass(frozen=True, slots=True)
class Queue:
    """Everything that the queue page shows: of the waiting runs, those of one page out of `n_pages`."""

    pauses: Pauses
    active: tuple[QueuedRun, ...]
    waiting: tuple[QueuedRun, ...]
    n_waiting: int
    page: int
    n_pages: int
    recent: tuple[QueuedRun, ...]
    workers: tuple[WorkerRow, ...]

    @property
    def n_workers_up(self) -> int:
        """How many workers answer."""
        return sum(worker.is_up for worker in self.workers)


def queue_state(page: int = 1) -> Queue:
    """The queue in the order in which workers take it, the workers, and the runs that ended last.

    A page beyond the last one is the last.
    """
    starts = expected_starts()
    n_pages = max(1, -(-len(starts) // WAITING_SHOWN))
    page = min(max(1, page), n_pages)
    first = (page - 1) * WAITING_SHOWN
    shown = list(starts)[first : first + WAITING_SHOWN]
    runs = {run.pk: run for run in _counted(Run.objects.filter(pk__in=shown, state=RunState.QUEUED))}
    active = _counted(Run.objects.filter(state__in=ACTIVE_RUN_STATES).exclude(state=RunState.QUEUED))
    recent = _counted(Run.objects.filter(state__in=FINAL_RUN_STATES)).order_by("-finished_at")[:RECENT_RUNS]
    return Queue(
        pauses=open_pauses(),
        active=tuple(_queued_run(run) for run in active.order_by("priority", "created_at")),
        waiting=tuple(
            _queued_run(runs[run_id], place=place, expected=starts[run_id])
            for place, run_id in enumerate(shown, start=first + 1)
            if run_id in runs
        ),
        n_waiting=len(starts),
        page=page,
        n_pages=n_pages,
        recent=tuple(_queued_run(run) for run in recent),
        workers=tuple(worker_rows()),
    )


def open_pauses() -> Pauses:
    """Everything that is paused. Two queries."""
    return Pauses(open_pause(), tuple(class_pauses()))


def open_pause() -> Pause | None:
    """The open pause of submissions, if there is one."""
    pause = SubmissionPause.objects.select_related("started_by").filter(is_open=True).first()
    return Pause(pause.reason, pause.started_at, pause.started_by.get_username()) if pause else None


def class_pauses() -> list[ClassPause]:
    """The open pauses of classes of workers, the oldest first."""
    pauses = WorkerClassPause.objects.select_related("started_by").filter(is_open=True).order_by("started_at")
    return [
        ClassPause(
            pause.worker_class,
            pause.get_worker_class_display(),
            pause.reason,
            pause.started_at,
            pause.started_by.get_username(),
        )
        for pause in pauses
    ]


def worker_rows() -> list[WorkerRow]:
    """The workers of the last day, those that answer first. One that has been silent for two beats is not up."""
    now = timezone.now()
    silent_since = now - silence_of_the_lost()
    workers = Worker.objects.select_related("current_run__revision__model", "current_run__submission").filter(
        last_seen_at__gte=now - WORKERS_REMEMBERED
    )
    rows = [
        WorkerRow(
            name=worker.name,
            device=worker.device,
            worker_class=worker.worker_class,
            versions=worker.versions,
            started_at=worker.started_at,
            last_seen_at=worker.last_seen_at,
            is_up=worker.last_seen_at >= silent_since,
            current_run_id=worker.current_run_id,
            current_repo_id=worker.current_run.revision.model.repo_id if worker.current_run else "",
            is_private=worker.current_run is not None and _is_hidden(worker.current_run),
        )
        for worker in workers
    ]
    return sorted(rows, key=lambda row: (not row.is_up, row.name))


def n_workers_up() -> int:
    """How many workers answer."""
    return Worker.objects.filter(last_seen_at__gte=timezone.now() - silence_of_the_lost()).count()


def _counted(runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with counts of their tasks, which are made for the rows that are shown alone."""
    tasks = TaskRun.objects.filter(run=OuterRef("pk"))
    return runs.select_related("revision__model", "suite", "submission").annotate(
        n_tasks=_count(tasks), n_ended=_count(tasks.filter(state__in=ENDED_TASK_STATES))
    )


def _count(tasks: QuerySet[TaskRun]) -> Subquery:
    return Subquery(tasks.order_by().values("run").annotate(n=Count("*")).values("n"))


def _is_hidden(run: Run) -> bool:
    """Whether the public may not know what is evaluated."""
    is_private = run.submission is not None and run.submission.is_private
    return is_private or run.revision.model.owner_opted_out


def _queued_run(run: Any, *, place: int | None = None, expected: ExpectedStart | None = None) -> QueuedRun:
    """A row of an annotated run."""
    return QueuedRun(
        run_id=run.pk,
        repo_id=run.revision.model.repo_id,
        commit=run.revision.commit,
        adapter_repo_id=run.revision.adapter_repo_id,
        suite_title=run.suite.title,
        synthetic=run.suite.synthetic,
        attempt=run.attempt,
        priority_title=run.get_priority_display(),
        state=run.state,
        state_title=run.get_state_display(),
        is_published=run.is_published,
        is_private=_is_hidden(run),
        n_tasks=run.n_tasks or 0,
        n_ended=run.n_ended or 0,
        created_at=run.created_at,
        finished_at=run.finished_at,
        worker_class=run.worker_class,
        retry_at=run.retry_at,
        place=place,
        expected=expected,
    )


def unsealed_workers() -> list[str]:
    """The names of workers of the last day that evaluate without sealing anything off."""
    seen = Worker.objects.filter(last_seen_at__gte=timezone.now() - WORKERS_REMEMBERED)
    return list(seen.filter(versions__sandbox=UNSEALED).values_list("name", flat=True))

"""Reads what waits, what is worked on, what has ended lately, and who works."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from leaderboard.models import Run, SubmissionPause, Worker
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, ENDED_TASK_STATES, FINAL_RUN_STATES, RunState

RECENT_RUNS = 10
WORKERS_REMEMBERED = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run in the queue page's lists. `place` is the place among waiting runs, from 1; None when it does not wait."""

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
    n_tasks: int
    n_ended: int
    created_at: datetime
    finished_at: datetime | None
    place: int | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker that has been seen within the last day."""

    name: str
    device: str
    versions: dict[str, Any]
    started_at: datetime
    last_seen_at: datetime
    is_up: bool
    current_run_id: UUID | None
    current_repo_id: str


@dataclass(frozen=True, slots=True)
class Pause:
    """An open pause of submissions."""

    reason: str
    started_at: datetime
    started_by: str


@dataclass(frozen=True, slots=True)
class Queue:
    """Everything that the queue page shows."""

    pause: Pause | None
    active: tuple[QueuedRun, ...]
    waiting: tuple[QueuedRun, ...]
    recent: tuple[QueuedRun, ...]
    workers: tuple[WorkerRow, ...]

    @property
    def n_workers_up(self) -> int:
        """How many workers answer."""
        return sum(worker.is_up for worker in self.workers)


def queue_state() -> Queue:
    """The queue in the order in which workers take it, the workers, and the runs that ended last."""
    unfinished = list(_counted(Run.objects.filter(state__in=ACTIVE_RUN_STATES)).order_by("priority", "created_at"))
    waiting = [run for run in unfinished if run.state == RunState.QUEUED]
    active = [run for run in unfinished if run.state != RunState.QUEUED]
    recent = _counted(Run.objects.filter(state__in=FINAL_RUN_STATES)).order_by("-finished_at")[:RECENT_RUNS]
    return Queue(
        pause=open_pause(),
        active=tuple(_queued_run(run) for run in active),
        waiting=tuple(_queued_run(run, place=place) for place, run in enumerate(waiting, start=1)),
        recent=tuple(_queued_run(run) for run in recent),
        workers=tuple(worker_rows()),
    )


def open_pause() -> Pause | None:
    """The open pause of submissions, if there is one."""
    pause = SubmissionPause.objects.select_related("started_by").filter(is_open=True).first()
    return Pause(pause.reason, pause.started_at, pause.started_by.get_username()) if pause else None


def worker_rows() -> list[WorkerRow]:
    """The workers of the last day, those that answer first. One that has been silent for two beats is not up."""
    now = timezone.now()
    silent_since = _silent_since(now)
    workers = Worker.objects.select_related("current_run__revision__model").filter(
        last_seen_at__gte=now - WORKERS_REMEMBERED
    )
    rows = [
        WorkerRow(
            name=worker.name,
            device=worker.device,
            versions=worker.versions,
            started_at=worker.started_at,
            last_seen_at=worker.last_seen_at,
            is_up=worker.last_seen_at >= silent_since,
            current_run_id=worker.current_run_id,
            current_repo_id=worker.current_run.revision.model.repo_id if worker.current_run else "",
        )
        for worker in workers
    ]
    return sorted(rows, key=lambda row: (not row.is_up, row.name))


def n_workers_up() -> int:
    """How many workers answer."""
    return Worker.objects.filter(last_seen_at__gte=_silent_since(timezone.now())).count()


def _silent_since(now: datetime) -> datetime:
    return now - timedelta(seconds=2 * max(settings.LEASE_SECONDS, settings.REAPER_SECONDS))


def _counted(runs: QuerySet[Run]) -> QuerySet[Run]:
    return runs.select_related("revision__model", "suite").annotate(
        n_tasks=Count("task_runs"),
        n_ended=Count("task_runs", filter=Q(task_runs__state__in=ENDED_TASK_STATES)),
    )


def _queued_run(run: Any, *, place: int | None = None) -> QueuedRun:
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
        n_tasks=run.n_tasks,
        n_ended=run.n_ended,
        created_at=run.created_at,
        finished_at=run.finished_at,
        place=place,
    )

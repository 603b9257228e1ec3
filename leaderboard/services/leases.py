"""Who works on what, and until when. All times are the database's, so a worker's clock does not matter.

Every write of a worker names its claim; a worker whose lease was taken back is refused and stops.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from leaderboard import queue
from leaderboard.exceptions import LeaseLost
from leaderboard.models import Run, RunEvent, TaskRun
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, ErrorKind, RunState, TaskRunState
from leaderboard.selectors.comparison import runs_to_compare
from leaderboard.selectors.snapshots import suites_to_build
from leaderboard.services.runs import NO_LEASE, run_fail, run_lock, run_move, task_run_move

REAPER = "reaper"


@dataclass(frozen=True, slots=True)
class TaskClaim:
    """A task that a worker holds. `claim` is the fencing number that its writes must carry."""

    task_run_id: int
    task_name: str
    claim: int


def lease_end() -> object:
    """When a lease taken now expires, as a database expression."""
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)


@transaction.atomic
def run_next_claim(*, worker: str) -> Run | None:
    """Take the most urgent run that needs a hand.

    A queued run becomes `preparing` under this worker's lease; a running one with pending tasks is returned as it is.
    None when there is nothing to do.
    """
    run = (
        Run.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(Q(state=RunState.QUEUED) | Q(state=RunState.RUNNING, pk__in=_runs_with_pending_tasks()))
        .order_by("priority", "created_at")
        .first()
    )
    if run is not None and run.state == RunState.QUEUED:
        started = {} if run.started_at else {"started_at": Now()}
        run_move(
            run,
            RunState.PREPARING,
            actor=worker,
            lease_owner=worker,
            lease_expires_at=lease_end(),
            **started,
        )
        run.refresh_from_db()
    return run


def _runs_with_pending_tasks() -> object:
    return TaskRun.objects.filter(state=TaskRunState.PENDING, run__state=RunState.RUNNING).values("run")


@transaction.atomic
def run_start(*, run_id: UUID, worker: str) -> Run:
    """`preparing` -> `running`: the model is there and loads. Rings once more, so that an idle worker can help.

    Raises:
        LeaseLost: the run was cancelled, or another worker prepares it.
    """
    run = run_lock(run_id)
    if run.state == RunState.RUNNING:
        return run
    if run.state != RunState.PREPARING or run.lease_owner != worker:
        raise LeaseLost(f"Run {run_id} is {run.state} and not prepared by {worker} any more.")
    run_move(run, RunState.RUNNING, actor=worker, **NO_LEASE)
    queue.ring(run.pk)
    return run


@transaction.atomic
def task_group_claim(*, run_id: UUID, worker: str) -> list[TaskClaim]:
    """Take the next pending tasks that share their data; empty when none is left or the run is not running."""
    pending = TaskRun.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        run_id=run_id, run__state=RunState.RUNNING, state=TaskRunState.PENDING
    )
    first = pending.select_related("task").order_by("task__position").first()
    if first is None:
        return []
    group = list(
        pending.filter(task__data_group=first.task.data_group).select_related("task").order_by("task__position")
    )
    TaskRun.objects.filter(pk__in=[task_run.pk for task_run in group]).update(
        state=TaskRunState.CLAIMED,
        lease_owner=worker,
        lease_expires_at=lease_end(),
        claims=F("claims") + 1,
        started_at=Now(),
        inputs_done=0,
        inputs_total=0,
    )
    return [TaskClaim(task_run.pk, task_run.task.name, task_run.claims + 1) for task_run in group]


def leases_renew(*, run_id: UUID, worker: str) -> None:
    """Extend what a worker holds in a run.

    Raises:
        LeaseLost: the run is not active any more, or the worker holds nothing of it.
    """
    held = TaskRun.objects.filter(run_id=run_id, state=TaskRunState.CLAIMED, lease_owner=worker)
    tasks = held.update(lease_expires_at=lease_end())
    runs = Run.objects.filter(pk=run_id, state__in=ACTIVE_RUN_STATES, lease_owner=worker).update(
        lease_expires_at=lease_end()
    )
    if tasks or runs:
        return
    if not Run.objects.filter(pk=run_id, state=RunState.RUNNING).exists():
        raise LeaseLost(f"Run {run_id} is not being worked on any more.")


def task_run_lock(claim: TaskClaim, *, worker: str) -> TaskRun:
    """The claimed task run, locked.

    Raises:
        LeaseLost: the claim is not this worker's any more.
    """
    task_run = (
        TaskRun.objects.select_for_update(of=("self",))
        .filter(
            pk=claim.task_run_id,
            state=TaskRunState.CLAIMED,
            lease_owner=worker,
            claims=claim.claim,
            run__state=RunState.RUNNING,
        )
        .first()
    )
    if task_run is None:
        raise LeaseLost(f"Task {claim.task_name} is not held by {worker} any more.")
    return task_run


@transaction.atomic
def claims_return(*, claims: list[TaskClaim], worker: str, blameless: bool = False) -> int:
    """Give back tasks that a worker took and did not finish; returns how many.

    `blameless`: the worker was told to stop, so this does not count towards the claims after which a task fails.
    """
    returned = 0
    for claim in claims:
        try:
            task_run = task_run_lock(claim, worker=worker)
        except LeaseLost:
            continue
        if blameless:
            task_run.claims -= 1
        _task_give_back(task_run)
        returned += 1
    return returned


def _task_give_back(task_run: TaskRun) -> None:
    """Make a task claimable again, unless it was lost too often: then it fails, so that nothing loops for ever."""
    if task_run.claims < settings.MAX_LOST_LEASES:
        task_run_move(task_run, TaskRunState.PENDING)
        return
    task_run_move(
        task_run,
        TaskRunState.FAILED,
        error_code="worker_lost",
        error_kind=ErrorKind.INFRASTRUCTURE,
        error_message=f"The evaluating process ended {task_run.claims} times in this task without a result, which most"
        " often means that it ran out of memory. Try a larger worker, or report it.",
    )


@transaction.atomic
def leases_reap() -> int:
    """Take back expired leases and ring for all that needs a worker; returns how many leases were taken back.

    A run needs one, and so does a suite whose statistics do not cover exactly what is published or whose reruns are not
    compared with it. Safe to run twice at
    once: locked rows are skipped.
    """
    reaped = 0
    expired_tasks = TaskRun.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        state=TaskRunState.CLAIMED, lease_expires_at__lt=Now()
    )
    for task_run in expired_tasks:
        _task_give_back(task_run)
        RunEvent.objects.create(
            run_id=task_run.run_id,
            actor=REAPER,
            reason=f"lease of task run {task_run.pk} expired; {task_run.get_state_display().lower()}",
        )
        reaped += 1
    expired_runs = Run.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        state__in=ACTIVE_RUN_STATES, lease_expires_at__lt=Now()
    )
    for run in expired_runs:
        _run_give_back(run, actor=REAPER, reason="the worker's lease expired")
        reaped += 1
    for run_id in Run.objects.filter(state__in=ACTIVE_RUN_STATES, lease_owner="").values_list("pk", flat=True):
        queue.ring(run_id)
    for suite_id in {*suites_to_build(), *(waiting.suite_id for waiting in runs_to_compare())}:
        queue.ring_snapshot(suite_id)
    return reaped


@transaction.atomic
def run_give_back(*, run_id: UUID, worker: str, reason: str, blameless: bool = False) -> None:
    """A worker could not get as far as evaluating a run: let another try, or fail it when that happened too often.

    `blameless`: the worker was told to stop, so this does not count.
    """
    run = run_lock(run_id)
    if run.is_active and run.lease_owner in {"", worker}:
        _run_give_back(run, actor=worker, reason=reason, blameless=blameless)


def _run_give_back(run: Run, *, actor: str, reason: str, blameless: bool = False) -> None:
    """Return a run whose single owner is gone to the state before, or fail it when that happened too often."""
    lost = run.lost_leases + (not blameless)
    if lost >= settings.MAX_LOST_LEASES:
        run_fail(
            run_id=run.pk,
            actor=actor,
            code="worker_lost",
            kind=ErrorKind.INFRASTRUCTURE,
            message=f"The evaluating process was lost {lost} times while the run was {run.state} ({reason})."
            " An administrator can rerun it.",
        )
        return
    back = RunState.QUEUED if run.state == RunState.PREPARING else RunState.RUNNING
    run_move(run, back, actor=actor, reason=reason, lost_leases=lost, **NO_LEASE)
    queue.ring(run.pk)

"""What becomes of a run or a task that failed, by the kind of the failure.

A machine's failure is tried again, a few times and later each time, from the last finished task. A lack of memory moves
the run to a larger worker while there is one. Everything else is final: it would fail in the same way again.
"""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from leaderboard.exceptions import LeaseLost
from leaderboard.models import Run, RunEvent
from leaderboard.models.vocabulary import ErrorKind, RunState, TaskRunState
from leaderboard.services.escalation import run_escalate
from leaderboard.services.leases import TaskClaim, task_run_lock
from leaderboard.services.runs import NO_LEASE, run_fail, run_lock, run_move, task_run_move

OUT_OF_MEMORY = "out_of_memory"
BACKOFF_FACTOR = 4


def backoff(retries: int) -> timedelta:
    """How long to wait before the next attempt after so many retries: `RETRY_SECONDS`, then four times as long, ..."""
    return timedelta(seconds=settings.RETRY_SECONDS * BACKOFF_FACTOR**retries)


@transaction.atomic
def run_failure_report(
    *, run_id: UUID, claim: int, worker: str, worker_class: str, code: str, kind: str, message: str
) -> Run:
    """A worker cannot go on with a run as a whole. `claim` is the run's `claims` when the worker took it.

    Raises:
        LeaseLost: the run has ended, or was taken from the queue anew since.
    """
    run = run_lock(run_id)
    if not run.is_active or run.state == RunState.QUEUED or run.claims != claim:
        raise LeaseLost(f"Run {run_id} is {run.state} and not worked on by {worker} any more.")
    if run.lease_owner not in {"", worker}:
        raise LeaseLost(f"Run {run_id} is held by {run.lease_owner}, not by {worker}.")
    if code == OUT_OF_MEMORY and run_escalate(run, actor=worker, reason=message, held_by_class=worker_class):
        return run
    if kind == ErrorKind.INFRASTRUCTURE and run.retries < settings.MAX_RETRIES:
        _run_put_back(run, worker=worker, message=message)
        return run
    return run_fail(run_id=run_id, actor=worker, code=code, kind=kind, message=message)


def _run_put_back(run: Run, *, worker: str, message: str) -> None:
    """Return a run to the state before for a later attempt. Tasks that others hold go on."""
    pause = backoff(run.retries)
    run_move(
        run,
        RunState.QUEUED if run.state == RunState.PREPARING else RunState.RUNNING,
        actor=worker,
        reason=f"{message} Tried again in {pause.total_seconds():.0f} seconds, for the"
        f" {run.retries + 1}. of {settings.MAX_RETRIES} times.",
        retries=run.retries + 1,
        retry_at=Now() + pause,
        **NO_LEASE,
    )


@transaction.atomic
def task_failure_report(
    *, claim: TaskClaim, worker: str, worker_class: str, code: str, kind: str, message: str
) -> None:
    """A worker could not evaluate a task: put it back for later, move the run to a larger worker, or fail the task.

    Raises:
        LeaseLost: the worker's claim was taken back.
    """
    run = run_lock(claim.run_id)
    task_run = task_run_lock(claim, worker=worker)
    if code == OUT_OF_MEMORY and run_escalate(run, actor=worker, reason=message, held_by_class=worker_class):
        return
    if kind != ErrorKind.INFRASTRUCTURE or task_run.retries >= settings.MAX_RETRIES:
        task_run_move(task_run, TaskRunState.FAILED, error_code=code, error_kind=kind, error_message=message)
        return
    pause = backoff(task_run.retries)
    task_run_move(task_run, TaskRunState.PENDING, retries=task_run.retries + 1, retry_at=Now() + pause)
    RunEvent.objects.create(
        run=run,
        actor=worker,
        reason=f"task {claim.task_name}: {message} Tried again in {pause.total_seconds():.0f} seconds.",
    )

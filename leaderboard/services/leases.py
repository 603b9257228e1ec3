"""Who works on what, and until when. All times are the database's, so a worker's clock does not matter.

Every write of a worker names its claim; a worker whose lease was taken back is refused and stops.
"""

from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import DateTimeField, Exists, F, Func, OuterRef, Q
from django.db.models.functions import Now

from leaderboard import queue
from leaderboard.exceptions import LeaseLost
from leaderboard.models import Run, RunEvent, TaskRun, WorkerClassPause
from leaderboard.models.vocabulary import (
    ACTIVE_RUN_STATES,
    OPEN_TASK_STATES,
    ErrorKind,
    RunState,
    TaskRunState,
    WorkerClass,
    classes_within,
)
from leaderboard.selectors.comparison import runs_to_compare
from leaderboard.selectors.due_snapshots import suites_to_build, suites_to_mark
from leaderboard.selectors.queue_order import first_waiting_locked, run_to_join_locked
from leaderboard.services.escalation import run_escalate
from leaderboard.services.runs import NO_LEASE, run_fail, run_lock, run_move, task_run_move

REAPER = "reaper"
DUE = Q(retry_at__isnull=True) | Q(retry_at__lte=Now())
"""Of runs and task runs: not put back for later."""


class ClockTimestamp(Func):
    """The database's clock at this moment; `Now` stands still within a transaction."""

    function = "clock_timestamp"
    output_field = DateTimeField()


@dataclass(frozen=True, slots=True)
class TaskClaim:
    """A task that a worker holds. `claim` is the fencing number that its writes must carry."""

    task_run_id: int
    task_name: str
    claim: int
    run_id: UUID


def lease_end() -> object:
    """When a lease taken now expires, as a database expression."""
    return Now() + timedelta(seconds=settings.LEASE_SECONDS)


@transaction.atomic
def run_next_claim(*, worker: str, worker_class: str = WorkerClass.CPU) -> Run | None:
    """Take the next run that needs a hand and that a worker of this class can hold; None when there is none.

    What was begun and is left without a worker goes first, then what waits, in the order of `selectors.queue_order`;
    where nothing waits, runs of other workers are helped. A queued run becomes `preparing` under this worker's lease; a
    running one is returned as it is. Later writes of the run name its `claims`. While the class is paused, there is none.
    """
    if _is_paused(worker_class):
        return None
    run = (
        run_to_join_locked(worker_class, abandoned=True)
        or first_waiting_locked(worker_class)
        or run_to_join_locked(worker_class, abandoned=False)
    )
    if run is not None and run.state == RunState.QUEUED:
        run_move(
            run,
            RunState.PREPARING,
            actor=worker,
            lease_owner=worker,
            lease_expires_at=lease_end(),
            claims=run.claims + 1,
            retry_at=None,
            started_at=run.started_at or ClockTimestamp(),
        )
    return run


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
    queue.ring(run.pk, run.worker_class)
    return run


@transaction.atomic
def task_group_claim(*, run_id: UUID, worker: str, worker_class: str = WorkerClass.CPU) -> list[TaskClaim]:
    """Take the next pending tasks that share their data.

    Empty when none is left, the run is not running, it was put back for a larger worker, or the class is paused.
    """
    if _is_paused(worker_class):
        return []
    pending = TaskRun.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        DUE,
        run_id=run_id,
        run__state=RunState.RUNNING,
        run__worker_class__in=classes_within(worker_class),
        state=TaskRunState.PENDING,
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
    return [TaskClaim(task_run.pk, task_run.task.name, task_run.claims + 1, run_id) for task_run in group]


def _is_paused(worker_class: str) -> bool:
    return WorkerClassPause.objects.filter(worker_class=worker_class, is_open=True).exists()


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


def run_is_worked_on(*, run_id: UUID, claim: int) -> bool:
    """Whether a run that was taken with this number is still active and was not put back since. Cheap to ask often."""
    return Run.objects.filter(
        pk=run_id, claims=claim, state__in=[RunState.PREPARING, RunState.RUNNING, RunState.SCORING]
    ).exists()


def task_run_lock(claim: TaskClaim, *, worker: str) -> TaskRun:
    """The claimed task run, locked. Who also locks its run locks the run first.

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
def claims_return(
    *, claims: list[TaskClaim], worker: str, blameless: bool = False, worker_class: str = WorkerClass.CPU
) -> int:
    """Give back tasks that a worker took and did not finish, in the order in which it took them; returns how many.

    Only the first was in work, so only it may be why the worker ended. `blameless`: the worker was told to stop, so
    even that does not count towards the losses after which a task fails.
    """
    returned = 0
    for number, claim in enumerate(claims):
        run = run_lock(claim.run_id)
        try:
            task_run = task_run_lock(claim, worker=worker)
        except LeaseLost:
            continue
        _task_give_back(task_run, run, actor=worker, blameless=blameless or number > 0, worker_class=worker_class)
        returned += 1
    return returned


def _task_give_back(task_run: TaskRun, run: Run, *, actor: str, worker_class: str, blameless: bool = False) -> None:
    """Make a task claimable again, unless it was lost too often, so that nothing loops for ever.

    Then memory is the likely reason: a larger worker tries, and without one the task fails. Both rows are locked.
    """
    lost = task_run.lost_leases + (not blameless)
    if lost < settings.MAX_LOST_LEASES:
        task_run_move(task_run, TaskRunState.PENDING, lost_leases=lost)
        return
    reason = f"the evaluating process ended {lost} times in task {task_run.task.name}"
    if run_escalate(run, actor=actor, reason=reason, held_by_class=worker_class):
        TaskRun.objects.filter(pk=task_run.pk).update(lost_leases=0)
        return
    task_run_move(
        task_run,
        TaskRunState.FAILED,
        lost_leases=lost,
        error_code="worker_lost",
        error_kind=ErrorKind.INFRASTRUCTURE,
        error_message=f"The evaluating process ended {lost} times in this task without a result, which most"
        " often means that it ran out of memory. Try a larger worker, or report it.",
    )


def leases_reap() -> int:
    """Take back expired leases and ring for all that needs a worker; returns how many leases were taken back.

    A run needs one, and so does a suite whose statistics do not cover exactly what is published or whose reruns are not
    compared with it. Safe to run twice at once: locked rows are skipped.
    """
    expired = Q(lease_expires_at__lt=Now())
    of_tasks = TaskRun.objects.filter(expired, state=TaskRunState.CLAIMED).values_list("run", flat=True).distinct()
    of_runs = Run.objects.filter(expired, state__in=ACTIVE_RUN_STATES).values_list("pk", flat=True)
    reaped = sum(_run_reap(run_id) for run_id in {*of_tasks, *of_runs})
    _ring_for_unheard()
    return reaped


@transaction.atomic
def _run_reap(run_id: UUID) -> int:
    """Take back the expired leases of one run. The run is locked before its tasks, as everywhere."""
    run = Run.objects.select_for_update(skip_locked=True).filter(pk=run_id, state__in=ACTIVE_RUN_STATES).first()
    if run is None:
        return 0
    expired_tasks = run.task_runs.select_for_update(skip_locked=True, of=("self",)).filter(
        state=TaskRunState.CLAIMED, lease_expires_at__lt=Now()
    )
    reaped = 0
    blamed: set[str] = set()
    for task_run in expired_tasks.select_related("task").order_by("task__position"):
        if run.state != RunState.RUNNING:
            break
        holder = task_run.lease_owner
        # A worker does its tasks in order, so only the first of those that it held was in work.
        _task_give_back(task_run, run, actor=REAPER, worker_class=run.worker_class, blameless=holder in blamed)
        blamed.add(holder)
        RunEvent.objects.create(
            run=run,
            actor=REAPER,
            reason=f"lease of task {task_run.task.name} expired; {task_run.get_state_display().lower()}",
        )
        reaped += 1
    if run.lease_owner and Run.objects.filter(pk=run_id, lease_expires_at__lt=Now()).exists():
        _run_give_back(run, actor=REAPER, reason="the worker's lease expired")
        reaped += 1
    return reaped


@transaction.atomic
def _ring_for_unheard() -> None:
    """Ring for what waits for a worker and is due; bells that nobody has heard yet are not repeated.

    Who hears a bell and finds nothing to do comes here again. So there is none for a run whose tasks others hold, or an
    idle worker would ring for itself without end.
    """
    waiting: dict[str, list[UUID]] = {}
    tasks = TaskRun.objects.filter(run=OuterRef("pk"))
    has_work = Exists(tasks.filter(DUE, state=TaskRunState.PENDING)) | ~Exists(tasks.filter(state__in=OPEN_TASK_STATES))
    needs_a_hand = Q(state=RunState.QUEUED) | (Q(state=RunState.RUNNING) & Q(has_work))
    rows = Run.objects.filter(DUE, needs_a_hand).order_by("priority", "created_at")
    for run_id, worker_class in rows.values_list("pk", "worker_class"):
        waiting.setdefault(worker_class, []).append(run_id)
    for worker_class, run_ids in waiting.items():
        queue.ring_again(run_ids, worker_class)
    for suite_id in {*suites_to_build(), *suites_to_mark(), *(waiting.suite_id for waiting in runs_to_compare())}:
        queue.ring_snapshot(suite_id)


@transaction.atomic
def run_give_back(*, run_id: UUID, claim: int, worker: str, reason: str, blameless: bool = False) -> None:
    """A worker could not get as far as evaluating a run: let another try, or fail it when that happened too often.

    Nothing happens to a run that was taken from the queue anew since, or that another holds. `claim` is the run's
    `claims` when the worker took it. `blameless`: the worker was told to stop, so this does not count.
    """
    run = run_lock(run_id)
    if not run.is_active or run.claims != claim or run.state == RunState.QUEUED:
        return
    if run.lease_owner == worker or (run.lease_owner == "" and not blameless):
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
    queue.ring(run.pk, run.worker_class)

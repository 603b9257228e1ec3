"""Every change of a run's state. Each function locks the run, checks the state that it expects and writes an event."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Now

from leaderboard import queue
from leaderboard.exceptions import TransitionRefused
from leaderboard.models import ModelRevision, Priority, Run, RunEvent, Score, Submission, Suite, TaskRun, User
from leaderboard.models.vocabulary import (
    ACTIVE_RUN_STATES,
    ENDED_TASK_STATES,
    FINAL_RUN_STATES,
    OPEN_TASK_STATES,
    ActKind,
    RunState,
    TaskRunState,
    WorkerClass,
)
from leaderboard.selectors.reruns import Carried, RerunScope, carried_results
from leaderboard.services.acts import act_record
from leaderboard.services.notifications import deliveries_plan
from leaderboard.services.sizes import expected_seconds

NO_LEASE = {"lease_owner": "", "lease_expires_at": None}


def run_lock(run_id: UUID) -> Run:
    """The run, locked until the end of the transaction."""
    return Run.objects.select_for_update().get(pk=run_id)


def run_move(run: Run, to_state: RunState, *, actor: str, reason: str = "", **changes: object) -> None:
    """Write a transition of a locked run, with its event. The caller has checked that it is allowed."""
    from_state = run.state
    run.state = to_state
    if to_state in FINAL_RUN_STATES:
        changes = {"finished_at": Now(), **NO_LEASE, **changes}
    for name, value in changes.items():
        setattr(run, name, value)
    run.save(update_fields=["state", *changes])
    for name, value in changes.items():
        if hasattr(value, "resolve_expression"):
            delattr(run, name)  # what the database worked out is read when somebody asks for it
    RunEvent.objects.create(run=run, from_state=from_state, to_state=to_state, actor=actor, reason=reason)
    if to_state in FINAL_RUN_STATES:
        Submission.objects.filter(pk=run.submission_id, closed_at__isnull=True).update(closed_at=Now())
        deliveries_plan(run)


def task_run_move(task_run: TaskRun, to_state: TaskRunState, **changes: object) -> None:
    """Write a transition of a locked task run; whoever held it holds it no more."""
    if to_state in ENDED_TASK_STATES:
        changes = {"finished_at": Now(), "finished_by": task_run.lease_owner, **changes}
    for name, value in {"state": to_state, **NO_LEASE, **changes}.items():
        setattr(task_run, name, value)
    task_run.save()


def run_create(
    *,
    revision: ModelRevision,
    suite: Suite,
    requested_by: User,
    submission: Submission | None = None,
    priority: Priority = Priority.VISITOR,
    rerun_of: Run | None = None,
    worker_class: str = WorkerClass.CPU,
    reason: str = "",
) -> Run:
    """Queue a new attempt over all installed tasks of the suite, and ring for it. Runs inside the caller's transaction.

    `worker_class` is the smallest that can hold the model.
    """
    tasks = suite.tasks.filter(is_installed=True)
    latest = Run.objects.filter(revision=revision, suite=suite).aggregate(latest=Max("attempt"))["latest"] or 0
    run = Run.objects.create(
        revision=revision,
        suite=suite,
        attempt=latest + 1,
        submission=submission,
        requested_by=requested_by,
        priority=priority,
        rerun_of=rerun_of,
        worker_class=worker_class,
        expected_seconds=expected_seconds(
            parameters=revision.model.parameters,
            n_queries=tasks.aggregate(total=Sum("n_queries"))["total"] or 0,
            worker_class=worker_class,
        ),
    )
    TaskRun.objects.bulk_create([TaskRun(run=run, task=task) for task in tasks])
    RunEvent.objects.create(run=run, to_state=RunState.QUEUED, actor=requested_by.get_username(), reason=reason)
    queue.ring(run.pk, run.worker_class)
    return run


@transaction.atomic
def run_cancel(*, run_id: UUID, actor: str, reason: str = "") -> Run:
    """Stop a run in any active state. Workers learn of it from their next heartbeat and drop what they hold.

    Raises:
        TransitionRefused: the run has already ended.
    """
    run = run_lock(run_id)
    if not run.is_active:
        raise TransitionRefused(f"This run has already ended ({run.get_state_display().lower()}); nothing to cancel.")
    _cancel_open_tasks(run.task_runs.all())
    run_move(run, RunState.CANCELLED, actor=actor, reason=reason)
    return run


@transaction.atomic
def run_fail(*, run_id: UUID, actor: str, code: str, kind: str, message: str) -> Run:
    """End a run that cannot go on.

    Raises:
        TransitionRefused: the run has already ended.
    """
    run = run_lock(run_id)
    if not run.is_active:
        raise TransitionRefused("This run has already ended.")
    _cancel_open_tasks(run.task_runs.all())
    run_move(
        run,
        RunState.FAILED,
        actor=actor,
        reason=message,
        error_code=code,
        error_kind=kind,
        error_message=message,
    )
    return run


def _cancel_open_tasks(task_runs: QuerySet[TaskRun]) -> None:
    task_runs.filter(state__in=OPEN_TASK_STATES).update(state=TaskRunState.CANCELLED, finished_at=Now(), **NO_LEASE)


@transaction.atomic
def run_rerun(
    *,
    run_id: UUID,
    actor: User,
    failed_only: bool = False,
    tasks: Collection[str] = (),
    suite: Suite | None = None,
    reason: str = "",
) -> Run:
    """Queue a new attempt for the same revision, from any state of the old one.

    An active attempt is cancelled first. With `failed_only` or `tasks`, results of tasks that succeeded are carried
    over, but for the named tasks, and only the others run again. With `suite`, another version of the old run's suite,
    the attempt is on that one. The published run stays published until another is published in its place.

    Raises:
        TransitionRefused: the suite has no task of a given name, no task would run again, or the run is private and
            would become public on another version of its suite.
    """
    old = run_lock(run_id)
    target = suite or old.suite
    if target != old.suite and old.submission is not None and old.submission.is_private:
        raise TransitionRefused("Its submitter keeps this run private; only they can submit it to another suite.")
    _refuse_unknown(tasks, target)
    active = Run.objects.select_for_update().filter(revision=old.revision, suite=target, state__in=ACTIVE_RUN_STATES)
    for run in active:
        run_cancel(run_id=run.pk, actor=actor.get_username(), reason="replaced by a rerun")
    scope = RerunScope.TASKS if tasks else RerunScope.FAILED if failed_only else RerunScope.ALL
    carried = carried_results(old, target.tasks.all(), scope=scope, tasks=tasks)
    new = run_create(
        revision=old.revision,
        suite=target,
        requested_by=actor,
        submission=old.submission if target == old.suite else None,
        priority=Priority.RERUN,
        rerun_of=old,
        worker_class=old.worker_class,
        reason=reason or _RERUN_REASONS[scope],
    )
    for one in carried:
        _carry_over(one, new)
    if carried and not new.task_runs.filter(state=TaskRunState.PENDING).exists():
        raise TransitionRefused("Every task of this run succeeded; there is nothing to run again.")
    act_record(
        actor=actor.get_username(),
        kind=ActKind.RERUN,
        subject=new,
        reason=reason,
        details={"rerun_of": str(old.pk), "scope": scope.value, "tasks": sorted(tasks), "carried_over": len(carried)},
    )
    return new


_RERUN_REASONS = {
    RerunScope.ALL: "rerun",
    RerunScope.FAILED: "rerun of failed tasks",
    RerunScope.TASKS: "rerun of chosen tasks",
}


def _refuse_unknown(tasks: Collection[str], suite: Suite) -> None:
    known = set(suite.tasks.filter(name__in=tasks, is_installed=True).values_list("name", flat=True))
    if unknown := sorted(set(tasks) - known):
        raise TransitionRefused(f"{suite} has no installed task {', '.join(unknown)}. Choose among those that it has.")


CARRIED_FIELDS = (
    "state", "started_at", "finished_at", "seconds_embedding", "seconds_ranking", "peak_memory_bytes", "n_queries",
    "chance", "hit_at_1_optimistic", "hit_at_1_pessimistic", "self_excluded", "data_sha256", "outcomes", "counts",
    "first_ranked", "inputs_done", "inputs_total",
)  # fmt: skip


def _carry_over(carried: Carried, run: Run) -> None:
    """Copy a finished task and its scores into another run, and say where it came from."""
    old = carried.task_run
    values = {name: getattr(old, name) for name in CARRIED_FIELDS}
    new, _ = TaskRun.objects.update_or_create(run=run, task=carried.task, defaults={**values, "carried_from": old})
    Score.objects.bulk_create(
        Score(
            task_run=new,
            metric=score.metric,
            value=score.value,
            lower=score.lower,
            upper=score.upper,
            is_main=score.is_main,
        )
        for score in old.scores.all()
    )

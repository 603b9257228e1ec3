"""What administrators decide about the board, each with its line in the log of acts; and what workers report."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import Run, SubmissionPause, User, Worker, WorkerClassPause
from leaderboard.models.vocabulary import ActKind, WorkerClass
from leaderboard.services.acts import act_record
from leaderboard.services.runs import run_cancel


def submissions_pause(*, actor: User, reason: str) -> SubmissionPause:
    """Take no submissions until they are resumed.

    Raises:
        TransitionRefused: they are paused already.
    """
    try:
        with transaction.atomic():
            pause = SubmissionPause.objects.create(started_by=actor, reason=reason)
            act_record(actor=actor.get_username(), kind=ActKind.PAUSE, subject="Submissions", reason=reason)
            return pause
    except IntegrityError as error:
        raise TransitionRefused("Submissions are paused already.") from error


@transaction.atomic
def submissions_resume(*, actor: User) -> None:
    """Take submissions again.

    Raises:
        TransitionRefused: they are not paused.
    """
    ended = SubmissionPause.objects.filter(is_open=True).update(is_open=False, ended_at=Now())
    if not ended:
        raise TransitionRefused("Submissions are not paused.")
    act_record(actor=actor.get_username(), kind=ActKind.RESUME, subject="Submissions")


def worker_class_pause(*, actor: User, worker_class: WorkerClass, reason: str) -> WorkerClassPause:
    """Let no worker of a class take work until it goes on. What a worker has in hand, it finishes.

    Raises:
        TransitionRefused: the class is paused already.
    """
    try:
        with transaction.atomic():
            pause = WorkerClassPause.objects.create(started_by=actor, worker_class=worker_class, reason=reason)
            act_record(
                actor=actor.get_username(), kind=ActKind.PAUSE_CLASS, subject=f"Class {worker_class}", reason=reason
            )
            return pause
    except IntegrityError as error:
        raise TransitionRefused(f"The workers of class {worker_class} are paused already.") from error


@transaction.atomic
def worker_class_resume(*, actor: User, worker_class: WorkerClass) -> None:
    """Let the workers of a class take work again. The reaper rings for what waits.

    Raises:
        TransitionRefused: the class is not paused.
    """
    paused = WorkerClassPause.objects.filter(worker_class=worker_class, is_open=True)
    if not paused.update(is_open=False, ended_at=Now()):
        raise TransitionRefused(f"The workers of class {worker_class} are not paused.")
    act_record(actor=actor.get_username(), kind=ActKind.RESUME_CLASS, subject=f"Class {worker_class}")


@transaction.atomic
def run_cancel_for_others(*, run_id: UUID, actor: User, reason: str) -> Run:
    """An administrator stops a run that is not theirs.

    Raises:
        TransitionRefused: the run has already ended.
    """
    run = run_cancel(run_id=run_id, actor=actor.get_username(), reason=reason)
    act_record(actor=actor.get_username(), kind=ActKind.CANCEL, subject=run, reason=reason)
    return run


@transaction.atomic
def limits_set(*, actor: User, person: User, per_day: int | None, at_once: int | None, reason: str) -> None:
    """Give a person limits of submissions of their own; None: what the board's settings say."""
    locked = User.objects.select_for_update().get(pk=person.pk)
    before = {"per_day": locked.submissions_per_day, "at_once": locked.submissions_at_once}
    locked.submissions_per_day, locked.submissions_at_once = per_day, at_once
    locked.save(update_fields=["submissions_per_day", "submissions_at_once"])
    act_record(
        actor=actor.get_username(),
        kind=ActKind.LIMITS,
        subject=locked.get_username(),
        reason=reason,
        details={"before": before, "after": {"per_day": per_day, "at_once": at_once}},
    )


def worker_report(
    *,
    name: str,
    device: str,
    versions: Mapping[str, Any],
    worker_class: str = WorkerClass.CPU,
) -> None:
    """A worker has started, at this moment of the database's clock."""
    Worker.objects.update_or_create(
        name=name,
        defaults={
            "device": device,
            "worker_class": worker_class,
            "versions": dict(versions),
            "started_at": Now(),
            "last_seen_at": Now(),
            "current_run": None,
        },
    )


def worker_seen(*, name: str, memory_bytes: int, memory_total_bytes: int) -> None:
    """A worker is alive, and with its child takes so much of its machine's memory."""
    Worker.objects.filter(name=name).update(
        last_seen_at=Now(), memory_bytes=memory_bytes, memory_total_bytes=memory_total_bytes
    )


def worker_takes(*, name: str, run_id: UUID | None) -> None:
    """A worker turns to a run, or to none."""
    Worker.objects.filter(name=name).update(last_seen_at=Now(), current_run=run_id)

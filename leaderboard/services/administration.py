"""What administrators and workers tell the board about themselves."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import SubmissionPause, User, Worker
from leaderboard.models.vocabulary import WorkerClass


def submissions_pause(*, actor: User, reason: str) -> SubmissionPause:
    """Take no submissions until they are resumed.

    Raises:
        TransitionRefused: they are paused already.
    """
    try:
        with transaction.atomic():
            return SubmissionPause.objects.create(started_by=actor, reason=reason)
    except IntegrityError as error:
        raise TransitionRefused("Submissions are paused already.") from error


@transaction.atomic
def submissions_resume() -> None:
    """Take submissions again.

    Raises:
        TransitionRefused: they are not paused.
    """
    ended = SubmissionPause.objects.filter(is_open=True).update(is_open=False, ended_at=timezone.now())
    if not ended:
        raise TransitionRefused("Submissions are not paused.")


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

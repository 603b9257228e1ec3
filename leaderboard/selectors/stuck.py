"""Reads what should have gone on by itself and did not. While everything works, there is nothing of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

from django.db.models import Exists, F, Max, OuterRef, Q
from django.db.models.functions import Greatest, Now
from django.utils import timezone

from leaderboard.models import Delivery, Run, Suite, TaskRun, Worker, WorkerClassPause
from leaderboard.models.vocabulary import (
    ACTIVE_RUN_STATES,
    DeliveryState,
    RunState,
    TaskRunState,
    WorkerClass,
    classes_within,
)
from leaderboard.selectors.comparison import runs_to_compare
from leaderboard.selectors.due_snapshots import suites_to_build
from leaderboard.selectors.queue_times import silence_of_the_lost

MOST_SHOWN = 100
PATIENCE = timedelta(hours=1)
"""How long work may wait that a living worker does at once."""
PATIENCE_FOR_MESSAGES = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class StuckItem:
    """Something that does not move. `since` is when it last did."""

    subject: str
    trouble: str
    advice: str
    since: datetime
    run_id: UUID | None = None


def stuck_items() -> list[StuckItem]:
    """What is stuck, by kind, at most `MOST_SHOWN` of it."""
    kinds = (_expired_leases, _left_runs, _runs_without_worker, _late_messages, _late_statistics, _late_comparisons)
    return list(islice((item for kind in kinds for item in kind()), MOST_SHOWN))


def _expired_leases() -> Iterator[StuckItem]:
    overdue = Now() - silence_of_the_lost()
    advice = "No worker takes expired leases back: see whether one is up and reaches the database."
    runs = Run.objects.filter(state__in=ACTIVE_RUN_STATES, lease_expires_at__lt=overdue)
    for run in runs.select_related("revision__model", "suite")[:MOST_SHOWN]:
        yield StuckItem(str(run), f"held by {run.lease_owner}, which is silent", advice, run.lease_expires_at, run.pk)
    tasks = TaskRun.objects.filter(state=TaskRunState.CLAIMED, lease_expires_at__lt=overdue).select_related("task")
    for task in tasks[:MOST_SHOWN]:
        trouble = f"held by {task.lease_owner}, which is silent"
        yield StuckItem(task.task.title, trouble, advice, task.lease_expires_at, task.run_id)


def _left_runs() -> Iterator[StuckItem]:
    """Runs that were begun, are due, and on which nobody has worked for long."""
    held = TaskRun.objects.filter(run=OuterRef("pk"), state=TaskRunState.CLAIMED)
    due = Q(retry_at__isnull=True) | Q(retry_at__lte=Now() - PATIENCE)
    runs = (
        Run.objects.filter(due, ~Exists(held), state__in=[RunState.RUNNING, RunState.SCORING], lease_owner="")
        .annotate(moved_at=Greatest(F("started_at"), Max("task_runs__finished_at")))
        .filter(moved_at__lt=timezone.now() - PATIENCE)
        .select_related("revision__model", "suite")
        .order_by("moved_at")
    )
    for run in runs[:MOST_SHOWN]:
        advice = "See whether a worker of its class is up; else cancel it or rerun it."
        yield StuckItem(str(run), "begun, and nobody works on it", advice, run.moved_at, run.pk)


def _runs_without_worker() -> Iterator[StuckItem]:
    """Runs that wait for a class of which no worker is up."""
    paused = WorkerClassPause.objects.filter(is_open=True).values("worker_class")
    up = Worker.objects.filter(last_seen_at__gte=timezone.now() - silence_of_the_lost())
    own = set(up.exclude(worker_class__in=paused).values_list("worker_class", flat=True))
    held = {name for worker_class in own for name in classes_within(worker_class)}
    waiting = Run.objects.filter(state=RunState.QUEUED, created_at__lt=timezone.now() - PATIENCE)
    runs = waiting.exclude(worker_class__in=held).select_related("revision__model", "suite").order_by("created_at")
    for run in runs[:MOST_SHOWN]:
        trouble = f"waits for a worker of class {WorkerClass(run.worker_class).label}, and none takes work"
        advice = "Start such a worker or a larger one, let its class go on, or cancel the run."
        yield StuckItem(str(run), trouble, advice, run.created_at, run.pk)


def _late_messages() -> Iterator[StuckItem]:
    late = Delivery.objects.filter(
        state=DeliveryState.WAITING, next_attempt_at__lt=timezone.now() - PATIENCE_FOR_MESSAGES
    )
    for message in late.select_related("recipient").order_by("next_attempt_at")[:MOST_SHOWN]:
        trouble = f"not sent yet; the last attempt: {message.trouble or 'none'}"
        advice = "Workers send messages: see whether one is up."
        subject = f"{message.get_channel_display()} to {message.recipient}"
        yield StuckItem(subject, trouble, advice, message.next_attempt_at, message.run_id)


def _late_statistics() -> Iterator[StuckItem]:
    suites = Suite.objects.filter(pk__in=suites_to_build()).annotate(changed_at=Max("runs__published_at"))
    for suite in suites.filter(changed_at__lt=timezone.now() - PATIENCE):
        advice = "A worker with the suite's data computes them: see whether one is up."
        yield StuckItem(suite.title, "its statistics are older than its results", advice, suite.changed_at)


def _late_comparisons() -> Iterator[StuckItem]:
    waiting = [uncompared.run_id for uncompared in runs_to_compare()]
    runs = Run.objects.filter(pk__in=waiting, finished_at__lt=timezone.now() - PATIENCE)
    for run in runs.select_related("revision__model", "suite").order_by("finished_at")[:MOST_SHOWN]:
        advice = "A worker with the suite's data compares them: see whether one is up."
        yield StuckItem(str(run), "not compared with the published run yet", advice, run.finished_at, run.pk)

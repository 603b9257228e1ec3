"""Reads what monitoring asks for: counts by state, ages of what waits, heartbeats, durations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import Extract, Now

from leaderboard.models import Delivery, Run, TaskRun, Worker
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, RunState, TaskRunState

DURATION_BOUNDS = (10, 30, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 3 * 24 * 3600)
"""Upper bounds of the buckets of run durations and waits, in seconds."""


@dataclass(frozen=True, slots=True)
class Durations:
    """A histogram of spans of time. `counts` has, for each bound, how many were at most that long."""

    labels: tuple[str, ...]
    counts: tuple[int, ...]
    total: int
    seconds: float


def runs_by_state() -> list[dict[str, Any]]:
    """How many runs there are of each suite, priority and state."""
    return _counted(Run.objects.values("suite__slug", "priority", "state"))


def failures() -> list[dict[str, Any]]:
    """How many runs failed, by kind and code."""
    return _counted(Run.objects.filter(state=RunState.FAILED).values("error_kind", "error_code"))


def task_runs_by_state() -> list[dict[str, Any]]:
    """How many task runs there are in each state."""
    return _counted(TaskRun.objects.values("state"))


def deliveries_by_state() -> list[dict[str, Any]]:
    """How many messages there are of each channel and state."""
    return _counted(Delivery.objects.values("channel", "state"))


def oldest_waits() -> list[dict[str, Any]]:
    """For each priority, how many seconds the run has waited that has waited longest."""
    waiting = Run.objects.filter(state=RunState.QUEUED).values("priority")
    return list(waiting.annotate(seconds=Max(_seconds("created_at", Now()))).order_by("priority"))


def waiting_work() -> list[dict[str, Any]]:
    """For each class of workers, the runs that wait for it or a larger one and are due, and the seconds expected of them."""
    due = Run.objects.filter(Q(retry_at__isnull=True) | Q(retry_at__lte=Now()), state=RunState.QUEUED)
    found = due.values("worker_class").annotate(n=Count("pk"), seconds=Sum("expected_seconds"))
    return list(found.order_by("worker_class"))


def expired_leases() -> int:
    """Leases that have run out and were not taken back yet: more than a few for longer than a minute is a fault."""
    tasks = TaskRun.objects.filter(state=TaskRunState.CLAIMED, lease_expires_at__lt=Now()).count()
    return tasks + Run.objects.filter(state__in=ACTIVE_RUN_STATES, lease_expires_at__lt=Now()).count()


def heartbeats() -> list[dict[str, Any]]:
    """Every worker of the last day, with the seconds since it was seen and its memory."""
    workers = Worker.objects.annotate(age=_seconds("last_seen_at", Now())).filter(age__lte=24 * 3600)
    return list(workers.order_by("name").values("name", "device", "age", "memory_bytes", "memory_total_bytes"))


def task_work() -> list[dict[str, Any]]:
    """For each suite, how many tasks were done, with how many inputs, and what they took; carried results not counted."""
    done = TaskRun.objects.filter(state=TaskRunState.SUCCEEDED, carried_from__isnull=True)
    return list(
        done.values("task__suite__slug")
        .annotate(
            tasks=Count("pk"),
            inputs=Sum("inputs_total"),
            embedding=Sum("seconds_embedding"),
            ranking=Sum("seconds_ranking"),
        )
        .order_by("task__suite__slug")
    )


def run_durations() -> list[Durations]:
    """How long runs took from their start to their end, by suite and final state."""
    ended = Run.objects.filter(started_at__isnull=False, finished_at__isnull=False)
    return _histograms(ended.annotate(span=_seconds("started_at", F("finished_at"))), ("suite__slug", "state"))


def run_waits() -> list[Durations]:
    """How long runs waited from being queued to their first start, by priority."""
    started = Run.objects.filter(started_at__isnull=False)
    return _histograms(started.annotate(span=_seconds("created_at", F("started_at"))), ("priority",))


def _counted(rows: QuerySet[Any, dict[str, Any]]) -> list[dict[str, Any]]:
    return list(rows.annotate(n=Count("pk")).order_by())


def _seconds(since: str, until: Any) -> Extract:
    return Extract(until - F(since), "epoch")


def _histograms(runs: QuerySet[Run], keys: Sequence[str]) -> list[Durations]:
    buckets = {f"up_to_{bound}": Count("pk", filter=Q(span__lte=bound)) for bound in DURATION_BOUNDS}
    rows = runs.values(*keys).annotate(n=Count("pk"), seconds=Sum("span"), **buckets).order_by(*keys)
    return [
        Durations(
            labels=tuple(str(row[key]) for key in keys),
            counts=tuple(row[name] for name in buckets),
            total=row["n"],
            seconds=float(row["seconds"]),
        )
        for row in rows
    ]

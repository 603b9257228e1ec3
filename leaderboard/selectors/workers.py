"""Reads what each worker is doing and how much it has done."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Max, Sum
from django.utils import timezone

from leaderboard.models import TaskRun, Worker
from leaderboard.models.vocabulary import TaskRunState
from leaderboard.selectors.queue import WorkerRow, worker_rows

THROUGHPUT_OVER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class CurrentTask:
    """What a worker has in hand: the task that it is in, and how many of its group stand behind it."""

    title: str
    inputs_done: int
    inputs_total: int
    n_behind: int


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a worker has finished within the last day. `peak_memory_bytes` is the largest of any of these tasks."""

    n_succeeded: int = 0
    n_failed: int = 0
    inputs_per_second: float | None = None
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class WorkerDetail:
    """A worker of the last day. Memory is None until it has reported it."""

    row: WorkerRow
    memory_bytes: int | None
    memory_total_bytes: int | None
    current: CurrentTask | None
    throughput: Throughput


def worker_details() -> list[WorkerDetail]:
    """The workers of the last day, those that answer first."""
    rows = worker_rows()
    names = [row.name for row in rows]
    memory = {
        name: sizes
        for name, *sizes in Worker.objects.filter(name__in=names).values_list(
            "name", "memory_bytes", "memory_total_bytes"
        )
    }
    current, throughput = _current_tasks(names), _throughputs(names)
    return [
        WorkerDetail(row, *memory[row.name], current.get(row.name), throughput.get(row.name, Throughput()))
        for row in rows
    ]


def _current_tasks(names: list[str]) -> dict[str, CurrentTask]:
    """A group's tasks are done in the suite's order, so the first that is still held is the one in hand."""
    held: dict[str, list[TaskRun]] = {}
    claimed = TaskRun.objects.filter(state=TaskRunState.CLAIMED, lease_owner__in=names)
    for task_run in claimed.select_related("task").order_by("task__position"):
        held.setdefault(task_run.lease_owner, []).append(task_run)
    return {
        name: CurrentTask(own[0].task.title, own[0].inputs_done, own[0].inputs_total, len(own) - 1)
        for name, own in held.items()
    }


def _throughputs(names: list[str]) -> dict[str, Throughput]:
    finished = TaskRun.objects.filter(finished_by__in=names, finished_at__gte=timezone.now() - THROUGHPUT_OVER)
    rows = (
        finished.values("finished_by", "state")
        .annotate(
            n=Count("pk"),
            inputs=Sum("inputs_total"),
            seconds=Sum("seconds_embedding"),
            peak=Max("peak_memory_bytes"),
        )
        .order_by()
    )
    by_state = {(row["finished_by"], row["state"]): row for row in rows}
    found = {}
    for name in {name for name, _ in by_state}:
        done = by_state.get((name, TaskRunState.SUCCEEDED), {})
        failed = by_state.get((name, TaskRunState.FAILED), {})
        found[name] = Throughput(
            n_succeeded=done.get("n", 0),
            n_failed=failed.get("n", 0),
            inputs_per_second=done["inputs"] / done["seconds"] if done.get("seconds") else None,
            peak_memory_bytes=done.get("peak"),
        )
    return found

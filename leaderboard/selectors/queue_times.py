"""When waiting runs are expected to start, from how long past runs took compared with what was expected of them.

The queue is played through many times: each time every run takes its expected time multiplied by the ratio of some
past run of its suite, and the workers that are up take the runs in the line's order, each run a worker that can hold
it. The median of the starts is shown, with the range that holds the middle 80% of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings
from django.db.models import Count, Q
from django.utils import timezone

from leaderboard.models import Run, Worker, WorkerClassPause
from leaderboard.models.vocabulary import OPEN_TASK_STATES, RunState, classes_within
from leaderboard.selectors.queue_order import waiting_line

PLAYS = 101
PAST_RUNS = 100
FEWEST_PAST_RUNS = 5
UNKNOWN_RATIOS = np.geomspace(0.25, 4, PLAYS)
"""Where too few runs have ended: from a quarter to four times of what is expected, the same for all runs of one play."""
QUANTILES = (0.1, 0.5, 0.9)

Seconds = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class ExpectedStart:
    """When a run starts: in half of all plays by `median`, in 10% before `earliest` and in 10% after `latest`."""

    earliest: datetime
    median: datetime
    latest: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """A run that waits, as the play sees it. `ratios` has one number a play."""

    worker_class: str
    expected_seconds: float
    ratios: Seconds


def expected_starts() -> dict[UUID, ExpectedStart | None]:
    """The expected start of every waiting run, in the line's order; None while no worker is up that can hold it."""
    line = waiting_line()
    if not line:
        return {}
    facts = {
        row[0]: row[1:]
        for row in Run.objects.filter(state=RunState.QUEUED).values_list(
            "pk", "worker_class", "expected_seconds", "suite"
        )
    }
    line = [run_id for run_id in line if run_id in facts]
    ratios = Ratios.of_past_runs()
    waiting = [Waiting(facts[run_id][0], facts[run_id][1], ratios.drawn(facts[run_id][2])) for run_id in line]
    classes, free = _workers(ratios)
    starts = play(waiting, classes=classes, free=free)
    known = [run_id for run_id, start in zip(line, starts, strict=True) if start is not None]
    expected = _expected([start for start in starts if start is not None])
    return dict.fromkeys(line) | dict(zip(known, expected, strict=True))


def play(waiting: Sequence[Waiting], *, classes: Sequence[str], free: Seconds) -> list[Seconds | None]:
    """Seconds until each waiting run starts, a number a play; None where no worker can hold it.

    Args:
        waiting: the runs, in the line's order.
        classes: the class of each worker.
        free: seconds until each worker is free; shape (workers, plays).
    """
    free = free.copy()
    able = {
        name: np.array([place for place, own in enumerate(classes) if name in classes_within(own)], dtype=np.intp)
        for name in {run.worker_class for run in waiting}
    }
    plays = np.arange(free.shape[1])
    starts: list[Seconds | None] = []
    for run in waiting:
        workers = able[run.worker_class]
        if not workers.size:
            starts.append(None)
            continue
        first = workers[free[workers].argmin(axis=0)]
        start = free[first, plays]
        free[first, plays] = start + run.expected_seconds * run.ratios
        starts.append(start)
    return starts


class Ratios:
    """How much longer runs took than expected: by suite where enough have ended, else over all suites."""

    def __init__(self, by_suite: Mapping[int, Sequence[float]]) -> None:
        self._by_suite = {suite: np.array(found) for suite, found in by_suite.items()}
        self._all = np.array([ratio for found in by_suite.values() for ratio in found])
        self._random = np.random.default_rng(0)  # the same queue always shows the same times

    @classmethod
    def of_past_runs(cls) -> "Ratios":
        """The ratios of the runs that succeeded last. Runs that carried results over did less and do not count."""
        past = (
            Run.objects.filter(
                state=RunState.SUCCEEDED, started_at__isnull=False, expected_seconds__gt=0, rerun_of__isnull=True
            )
            .order_by("-finished_at")
            .values_list("suite", "expected_seconds", "started_at", "finished_at")[:PAST_RUNS]
        )
        by_suite: dict[int, list[float]] = {}
        for suite, expected, started, finished in past:
            by_suite.setdefault(suite, []).append((finished - started).total_seconds() / expected)
        return cls(by_suite)

    def drawn(self, suite: int) -> Seconds:
        """A ratio for one run in every play."""
        for found in (self._by_suite.get(suite), self._all):
            if found is not None and found.size >= FEWEST_PAST_RUNS:
                return self._random.choice(found, PLAYS)
        return UNKNOWN_RATIOS


def _workers(ratios: Ratios) -> tuple[list[str], Seconds]:
    """The classes of the workers that are up and not paused, and in how many seconds each is free, in every play."""
    paused = WorkerClassPause.objects.filter(is_open=True).values("worker_class")
    up = Worker.objects.filter(last_seen_at__gte=timezone.now() - silence_of_the_lost())
    workers = list(up.exclude(worker_class__in=paused))
    runs = {
        run.pk: run
        for run in Run.objects.filter(pk__in=[worker.current_run_id for worker in workers if worker.current_run_id])
        .exclude(state=RunState.QUEUED)
        .annotate(
            n_tasks=Count("task_runs"), n_open=Count("task_runs", filter=Q(task_runs__state__in=OPEN_TASK_STATES))
        )
    }
    helpers = {run_id: sum(worker.current_run_id == run_id for worker in workers) for run_id in runs}
    free = np.zeros((len(workers), PLAYS))
    for place, worker in enumerate(workers):
        if run := runs.get(worker.current_run_id):
            left = run.expected_seconds * run.n_open / max(1, run.n_tasks) / helpers[run.pk]
            free[place] = left * ratios.drawn(run.suite_id)
    return [worker.worker_class for worker in workers], free


def silence_of_the_lost() -> timedelta:
    """After how long without a word a worker does not count as up."""
    return timedelta(seconds=2 * max(settings.LEASE_SECONDS, settings.REAPER_SECONDS))


def _expected(starts: Sequence[Seconds]) -> list[ExpectedStart]:
    if not starts:
        return []
    now = timezone.now()
    quantiles = np.quantile(np.stack(starts), QUANTILES, axis=1).T
    return [ExpectedStart(*(now + timedelta(seconds=seconds) for seconds in row)) for row in quantiles.tolist()]

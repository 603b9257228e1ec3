"""Reads the finished reruns that wait for an administrator to publish them, each with what would change."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F

from leaderboard.models import Run, RunComparison
from leaderboard.models.vocabulary import AggregateScope
from leaderboard.selectors.comparison import TASK_SCOPE, Paired, paired_of, unpublished_reruns

MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class WaitingRerun:
    """A finished rerun beside the published run.

    `overall` is the difference of the overall means, None for a suite without one or while a worker still computes;
    `n_better` and `n_worse` count tasks whose interval excludes zero.
    """

    run_id: UUID
    repo_id: str
    suite_title: str
    attempt: int
    baseline_id: UUID
    finished_at: datetime
    reason: str
    is_compared: bool
    overall: Paired | None
    n_better: int
    n_worse: int
    n_unpaired: int
    trouble: str


def waiting_reruns() -> list[WaitingRerun]:
    """The reruns that finished last, the newest first."""
    found = (
        unpublished_reruns()
        .select_related("revision__model", "suite", "comparison")
        .prefetch_related("events")
        .order_by(F("finished_at").desc())
    )
    return [_row(run) for run in found[:MOST_SHOWN]]


def _row(run: Run) -> WaitingRerun:
    stored: RunComparison | None = getattr(run, "comparison", None)
    if stored is not None and stored.baseline_id != run.baseline:
        stored = None
    rows = stored.rows if stored else []
    tasks = [paired_of(row) for row in rows if row["scope"] == TASK_SCOPE]
    separated = [pair for pair in tasks if pair.is_separated]
    return WaitingRerun(
        run_id=run.pk,
        repo_id=run.revision.model.repo_id,
        suite_title=run.suite.title,
        attempt=run.attempt,
        baseline_id=run.baseline,
        finished_at=run.finished_at,
        reason=next((event.reason for event in run.events.all()), ""),
        is_compared=stored is not None,
        overall=next((paired_of(row) for row in rows if row["scope"] == AggregateScope.OVERALL), None),
        n_better=sum(pair.value > 0 for pair in separated),
        n_worse=sum(pair.value < 0 for pair in separated),
        n_unpaired=len(stored.unpaired) if stored else 0,
        trouble=stored.trouble if stored else "",
    )

"""Moving a run to a larger worker where its memory did not suffice."""

from datetime import timedelta

from django.db.models.functions import Now

from leaderboard import queue
from leaderboard.models import Run, Worker
from leaderboard.models.vocabulary import RunState, TaskRunState, classes_above
from leaderboard.services.runs import NO_LEASE, run_move

REMEMBERED = timedelta(days=1)
"""A class that no worker of has been seen for so long is not waited for."""


def run_escalate(run: Run, *, actor: str, reason: str, held_by_class: str) -> bool:
    """Put a locked run back for the smallest larger class of which there is a worker; whether there is one.

    What was done stays done; whoever still works on the run loses what it holds.

    `held_by_class` is the class of the worker whose memory did not suffice; the run may ask for less.
    """
    larger = classes_above(held_by_class)
    seen = set(
        Worker.objects.filter(worker_class__in=larger, last_seen_at__gt=Now() - REMEMBERED).values_list(
            "worker_class", flat=True
        )
    )
    target = next((name for name in larger if name in seen), None)
    if target is None:
        return False
    run.task_runs.filter(state=TaskRunState.CLAIMED).update(state=TaskRunState.PENDING, **NO_LEASE)
    run_move(
        run,
        RunState.QUEUED,
        actor=actor,
        reason=f"{reason}; put back for a worker of class {target}",
        worker_class=target,
        lost_leases=0,
        **NO_LEASE,
    )
    queue.ring(run.pk, target)
    return True

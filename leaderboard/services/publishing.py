"""Which run of a revision stands on the boards."""

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from leaderboard import queue
from leaderboard.exceptions import TransitionRefused
from leaderboard.models import Run, RunEvent
from leaderboard.models.vocabulary import ActKind, RunState
from leaderboard.services.acts import act_record
from leaderboard.services.runs import run_lock


@transaction.atomic
def run_publish(*, run_id: UUID, actor: str) -> Run:
    """Put a succeeded run on the boards, in the place of the run that stood there.

    Raises:
        TransitionRefused: the run has not succeeded, is published already, or is its submitter's to publish.
    """
    run = run_lock(run_id)
    if is_private(run):
        raise TransitionRefused("Its submitter keeps this run private; only they can publish it.")
    if run.state != RunState.SUCCEEDED:
        raise TransitionRefused("Only a run that succeeded can be published.")
    if run.is_published:
        raise TransitionRefused("This run is published already.")
    for earlier in Run.objects.select_for_update().filter(revision=run.revision, suite=run.suite, is_published=True):
        _withdraw(earlier, actor=actor, reason=f"replaced by attempt {run.attempt}")
    _publish(run, actor=actor)
    act_record(actor=actor, kind=ActKind.PUBLISH, subject=run)
    return run


@transaction.atomic
def run_withdraw(*, run_id: UUID, actor: str, reason: str) -> Run:
    """Take a published run off the boards.

    Raises:
        TransitionRefused: the run is not published.
    """
    run = run_lock(run_id)
    if not run.is_published:
        raise TransitionRefused("This run is not published.")
    _withdraw(run, actor=actor, reason=reason)
    act_record(actor=actor, kind=ActKind.WITHDRAW, subject=run, reason=reason)
    return run


def run_publish_first(run: Run, *, actor: str) -> None:
    """Publish a run if its revision has nothing published on the suite; a rerun waits for a person's decision.

    One of a private submission waits for its submitter.
    """
    if (
        not is_private(run)
        and not Run.objects.filter(revision=run.revision, suite=run.suite, is_published=True).exists()
    ):
        _publish(run, actor=actor)


def is_private(run: Run) -> bool:
    """Whether a run is kept from the public by its submitter."""
    return run.submission is not None and run.submission.is_private


def _publish(run: Run, *, actor: str) -> None:
    run.is_published = True
    run.published_at = Now()
    run.save(update_fields=["is_published", "published_at"])
    RunEvent.objects.create(run=run, from_state=run.state, to_state=run.state, actor=actor, reason="published")
    queue.ring_snapshot(run.suite_id)


def _withdraw(run: Run, *, actor: str, reason: str) -> None:
    run.is_published = False
    run.save(update_fields=["is_published"])
    RunEvent.objects.create(
        run=run, from_state=run.state, to_state=run.state, actor=actor, reason=f"withdrawn: {reason}"
    )
    queue.ring_snapshot(run.suite_id)

"""Reads what a person has submitted, and what can be submitted to."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from leaderboard.models import Run, Submission, Suite, User
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, RunState

RECENT_SUBMISSIONS = 10


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One run of a submission."""

    run_id: UUID
    attempt: int
    state: str
    state_title: str
    is_active: bool
    is_published: bool
    requested_by_id: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class OtherSubmission:
    """A submission beside another."""

    submission_id: UUID
    suite_title: str


@dataclass(frozen=True, slots=True)
class SubmissionDetail:
    """A submission with its attempts, the newest first; there is always at least one.

    `others` are those of the same person and revision on other suites.
    """

    submission_id: UUID
    submitter_id: int
    submitter: str
    created_at: datetime
    is_private: bool
    training_data: str
    declared_training_data: tuple[str, ...]
    attempts: tuple[AttemptRow, ...]
    others: tuple[OtherSubmission, ...] = ()

    @property
    def latest(self) -> AttemptRow:
        """The newest attempt: the one that the submission's page follows."""
        return self.attempts[0]

    def may_be_seen_by(self, user: User) -> bool:
        """Its submitter and staff follow a submission; everybody else has the public page of its run."""
        return user.is_staff or user.pk == self.submitter_id

    def may_be_cancelled_by(self, user: User) -> bool:
        """Staff cancel anything; a submitter cancels what they asked for themselves, not an administrator's rerun."""
        return self.latest.is_active and (user.is_staff or user.pk == self.latest.requested_by_id)

    def may_be_resubmitted_by(self, user: User) -> bool:
        """Its submitter asks for the same again once it has failed or was cancelled."""
        return self.latest.state in {RunState.FAILED, RunState.CANCELLED} and user.pk == self.submitter_id


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """A submission in a person's own list, with the state of its newest run."""

    submission_id: UUID
    repo_id: str
    suite_title: str
    state: str
    state_title: str
    is_private: bool
    created_at: datetime


def submittable_suites() -> QuerySet[Suite]:
    """Live suites of which at least one task's data are installed, each with `n_installed`: retrieval first."""
    return (
        Suite.objects.filter(is_live=True)
        .annotate(n_installed=Count("tasks", filter=Q(tasks__is_installed=True)))
        .filter(n_installed__gte=1)
        .order_by("synthetic", "-kind", "title")
    )


def submission_detail(submission_id: UUID) -> SubmissionDetail | None:
    """A submission, or None when there is no such one."""
    submission = Submission.objects.select_related("submitter").filter(pk=submission_id).first()
    if submission is None:
        return None
    return SubmissionDetail(
        submission_id=submission.pk,
        submitter_id=submission.submitter_id,
        submitter=submission.submitter.get_username(),
        created_at=submission.created_at,
        is_private=submission.is_private,
        training_data=submission.training_data,
        declared_training_data=tuple(submission.declared_training_data),
        attempts=tuple(_attempt(run) for run in submission.runs.order_by("-attempt")),
        others=tuple(
            OtherSubmission(other.pk, other.suite.title)
            for other in Submission.objects.filter(
                submitter=submission.submitter, revision=submission.revision_id, suite__is_live=True
            )
            .exclude(suite=submission.suite_id)
            .select_related("suite")
        ),
    )


def submission_request(submission_id: UUID, *, submitter: User) -> dict[str, Any] | None:
    """What an earlier submission of this person asked for, by field of the form; None when there is no such one.

    The encode config is chosen anew: its name is known to the hub alone.
    """
    submission = (
        Submission.objects.select_related("revision__model", "suite")
        .filter(pk=submission_id, submitter=submitter)
        .first()
    )
    if submission is None:
        return None
    revision = submission.revision
    return {
        "repo_id": revision.model.repo_id,
        "revision": revision.commit,
        "adapter_repo_id": revision.adapter_repo_id,
        "adapter_revision": revision.adapter_commit,
        "suite": [submission.suite.slug],
        "training_data": submission.training_data,
        "declared_training_data": submission.declared_training_data,
        "visibility": "private" if submission.is_private else "public",
    }


def submissions_of(user: User) -> list[SubmissionRow]:
    """What a person submitted last, the newest first."""
    submissions = (
        Submission.objects.filter(submitter=user)
        .select_related("revision__model", "suite")
        .prefetch_related("runs")[:RECENT_SUBMISSIONS]
    )
    rows = []
    for submission in submissions:
        latest = max(submission.runs.all(), key=lambda run: run.attempt)
        rows.append(
            SubmissionRow(
                submission_id=submission.pk,
                repo_id=submission.revision.model.repo_id,
                suite_title=submission.suite.title,
                state=latest.state,
                state_title=latest.get_state_display(),
                is_private=submission.is_private,
                created_at=submission.created_at,
            )
        )
    return rows


def _attempt(run: Run) -> AttemptRow:
    return AttemptRow(
        run_id=run.pk,
        attempt=run.attempt,
        state=run.state,
        state_title=run.get_state_display(),
        is_active=run.state in ACTIVE_RUN_STATES,
        is_published=run.is_published,
        requested_by_id=run.requested_by_id,
        created_at=run.created_at,
    )

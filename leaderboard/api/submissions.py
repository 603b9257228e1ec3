"""Submitting a model, following what becomes of it, and cancelling it."""

from collections.abc import Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Query, Router, Schema
from ninja.responses import Status
from pydantic import ConfigDict, Field

from leaderboard.api.errors import ApiError, Problem
from leaderboard.api.operations import Listing, Place, Text, listing, reads, writes
from leaderboard.api.queue import Expected
from leaderboard.forms.submissions import SubmissionForm
from leaderboard.models.vocabulary import RunState, TrainingDataStatement
from leaderboard.ports import model_hub
from leaderboard.selectors.lists import Viewer, submission_list
from leaderboard.selectors.runs import RunDetail, run_detail
from leaderboard.selectors.submissions import SubmissionDetail, submission_detail
from leaderboard.services.runs import run_cancel
from leaderboard.services.submissions import submissions_create

MAX_SUITES = 20
MAX_DATA_SETS = 200

router = Router(tags=["Submissions"])


class SubmitRequest(Schema):
    """What to evaluate on which suites. Repositories are given as owner/name or as the address of their page."""

    model_config = ConfigDict(extra="forbid")

    repo_id: str = Field(max_length=400)
    revision: str = Field("", max_length=200, description="Branch, tag or commit; empty for the main branch.")
    adapter_repo_id: str = Field("", max_length=400)
    adapter_revision: str = Field("", max_length=200)
    suites: list[Text] = Field(min_length=1, max_length=MAX_SUITES, description="Slugs of /suites.")
    encode_config: str = Field("", max_length=200, description="One that the family has; empty for the authors' own.")
    training_data: TrainingDataStatement = Field(
        TrainingDataStatement.UNKNOWN, description="What you say of the data that the model was trained on."
    )
    declared_training_data: list[Text] = Field(
        default_factory=list, max_length=MAX_DATA_SETS, description="With `listed`: the names of the data sets."
    )
    visibility: Literal["public", "private"] = Field(
        "public", description="private: results are yours alone until you publish them."
    )


class SubmissionAnswer(Schema):
    """A submission with the state of its newest run."""

    id: UUID
    model: str
    commit: str
    suite: str
    state: RunState
    run: UUID
    created_at: datetime
    closed_at: datetime | None


class SubmissionList(Listing[SubmissionAnswer]):
    """A part of a list of submissions."""


class Progress(Schema):
    """How far a run is."""

    n_tasks: int
    n_succeeded: int
    n_failed: int
    n_ended: int
    place_in_queue: int | None
    expected_start: Expected | None


class Failure(Schema):
    """Why a run failed, and what to do next."""

    code: str
    kind: str
    message: str
    next_step: str


class Attempt(Schema):
    """One run of a submission."""

    run: UUID = Field(alias="run_id")
    attempt: int
    state: RunState
    is_published: bool
    created_at: datetime


class SubmissionStatus(Schema):
    """Where a submission stands: that of its newest run, the first of `attempts`."""

    id: UUID
    url: str = Field(description="Its page.")
    model: str
    commit: str
    suite: str
    suite_version: str
    state: RunState
    state_sentence: str
    is_published: bool
    progress: Progress
    failure: Failure | None
    attempts: list[Attempt]


@writes(router, "/submissions", list[SubmissionStatus], status=HTTPStatus.CREATED)
def submit(request: HttpRequest, asked: SubmitRequest) -> Status[Any]:
    """Check a repository with the hub and queue its evaluation, once for each suite that has no result of it yet.

    Everything that is wrong is answered at once, under `problems`.
    """
    form = SubmissionForm({**asked.model_dump(exclude={"suites"}), "suite": asked.suites})
    checked = form.check(model_hub())
    if not checked.passed or checked.report is None:
        raise _refusal(form)
    submissions = submissions_create(
        submitter=request.auth.user,
        report=checked.report,
        suites=form.cleaned_data["suite"],
        wishes=form.wishes(checked),
    )
    made = [_status(*_own(request.auth.user, submission.pk)) for submission in submissions]
    return Status(HTTPStatus.CREATED, made)


@reads(router, "/submissions", SubmissionList, of_a_person=True)
def list_submissions(request: HttpRequest, asked: Query[Place]) -> dict[str, Any]:
    """Your submissions, the newest first."""
    found = submission_list(request.auth.user, limit=asked.limit, offset=asked.offset)
    return listing(found.items, count=found.count, place=asked)


@reads(router, "/submissions/{uuid:submission_id}", SubmissionStatus, of_a_person=True)
def get_submission(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    """Where a submission of yours stands."""
    return _status(*_own(request.auth.user, submission_id))


@writes(router, "/submissions/{uuid:submission_id}/cancel", SubmissionStatus)
def cancel_submission(request: HttpRequest, submission_id: UUID) -> dict[str, Any]:
    """Cancel the newest run of a submission of yours. What has ended cannot be cancelled."""
    viewer = request.auth.user
    submission, _ = _own(viewer, submission_id)
    if submission.latest.is_active and not submission.may_be_cancelled_by(viewer):
        message = "An administrator started this run; only an administrator can cancel it."
        raise ApiError(HTTPStatus.FORBIDDEN, code="forbidden", message=message)
    run_cancel(run_id=submission.latest.run_id, actor=viewer.get_username(), reason="cancelled on request")
    return _status(*_own(viewer, submission_id))


def _own(viewer: Viewer, submission_id: UUID) -> tuple[SubmissionDetail, RunDetail]:
    """A submission that this person may follow, with its newest run."""
    submission = submission_detail(submission_id)
    if submission is None or not submission.may_be_seen_by(viewer):
        raise Http404("There is no such submission of yours.")
    run = run_detail(submission.latest.run_id, with_events=False)
    if run is None:
        raise Http404("There is no such submission of yours.")
    return submission, run


def _status(submission: SubmissionDetail, run: RunDetail) -> dict[str, Any]:
    facts = run.facts
    return {
        "id": submission.submission_id,
        "url": settings.SITE_URL + reverse("submission-detail", args=[submission.submission_id]),
        "model": facts.repo_id,
        "commit": facts.commit,
        "suite": facts.suite.slug,
        "suite_version": facts.suite.version,
        "state": facts.state,
        "state_sentence": facts.state_sentence,
        "is_published": facts.is_published,
        "progress": run.progress,
        "failure": {
            "code": facts.error_code,
            "kind": facts.error_kind,
            "message": facts.error_message,
            "next_step": facts.next_step,
        }
        if facts.error_code
        else None,
        "attempts": submission.attempts,
    }


def _refusal(form: SubmissionForm) -> ApiError:
    """What the form and the hub found wrong, by field."""
    problems = list(_problems(form))
    message = " ".join(problem.message for problem in problems)
    return ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, code="preflight_failed", message=message, problems=problems)


def _problems(form: SubmissionForm) -> Iterator[Problem]:
    names = {"__all__": None, "suite": "suites"}
    for field, errors in form.errors.as_data().items():
        for error in errors:
            for sentence in error.messages:
                yield Problem(code=error.code or "invalid", message=sentence, field=names.get(field, field))

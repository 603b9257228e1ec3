"""Submitting a model, and following what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.exceptions import ApplicationError, DuplicateSubmission
from leaderboard.forms.submissions import Checked, SubmissionForm
from leaderboard.models import Suite, User
from leaderboard.ports import EncodeConfigChoice, PreflightReport, model_hub
from leaderboard.selectors.applicability import Applicability, applicability
from leaderboard.selectors.queue import open_pause
from leaderboard.selectors.runs import run_detail
from leaderboard.selectors.submissions import (
    SubmissionDetail,
    submission_detail,
    submission_request,
    submissions_of,
)
from leaderboard.services.administration import run_cancel_for_others
from leaderboard.services.runs import run_cancel
from leaderboard.services.submissions import Existing, existing_run, submission_publish, submissions_create
from leaderboard.views.access import signed_in_required
from leaderboard.views.runs import run_context

MOST_PREFILLED = 400


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a filled form.

    `existing` are the runs that already answer it, by suite; `coverage` says how much of a suite applies to the model,
    where that is not all; `n_wanted` suites are left to be run.
    """

    checked: Checked
    existing: Sequence[tuple[Suite, Existing]] = ()
    coverage: Sequence[Applicability] = ()
    n_wanted: int = 0

    @property
    def report(self) -> PreflightReport | None:
        """The facts of the hub, where it could be asked for all of the request."""
        return self.checked.report

    @property
    def passed(self) -> bool:
        """Whether it can be submitted."""
        return self.checked.passed and self.n_wanted > 0


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in_required
def submit(request: HttpRequest) -> HttpResponse:
    """Show the form; check what it asks for; and, when asked to, queue the evaluation."""
    if request.method != "POST":
        return _form_page(request, SubmissionForm(initial=_initial(request)), None)
    form = SubmissionForm(request.POST)
    checked = form.check(model_hub())
    if not checked.passed:
        return _form_page(request, form, Verdict(checked))
    verdict = _verdict(request, form, checked)
    if request.POST.get("action") == "submit" and verdict.passed:
        try:
            submissions = submissions_create(
                submitter=request.user,
                report=checked.report,
                suites=form.cleaned_data["suite"],
                wishes=form.wishes(checked),
            )
        except DuplicateSubmission:
            verdict = _verdict(request, form, checked)
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            words = f"Submitted to {len(submissions)} suites" if len(submissions) > 1 else "Submitted"
            messages.success(request, f"{words}. This page follows the evaluation; you can leave it and come back.")
            return redirect("submission-detail", submission_id=submissions[0].pk)
    return _form_page(request, form, verdict)


def _initial(request: HttpRequest) -> dict[str, Any]:
    """What the form starts with: nothing, or what an earlier submission of this person asked for."""
    again = request.GET.get("again", "")
    if not again:
        return {"repo_id": request.GET.get("repo_id", "")[:MOST_PREFILLED].replace("\x00", "")}
    try:
        submission = UUID(again)
    except ValueError as error:
        raise BadRequest("A submission is named by its number.") from error
    earlier = submission_request(submission, submitter=request.user)
    if earlier is None:
        raise Http404("There is no such submission of yours.")
    return earlier


def _verdict(request: HttpRequest, form: SubmissionForm, checked: Checked) -> Verdict:
    measures = applicability(form.cleaned_data["suite"], reads=_reads(checked))
    fitting = [measure.suite for measure in measures if measure.n_applicable]
    sha256 = form.wishes(checked).encode_config_sha256
    runs = [
        (
            suite,
            existing_run(report=checked.report, suite=suite, submitter=request.user, encode_config_sha256=sha256),
        )
        for suite in fitting
    ]
    existing = [(suite, run) for suite, run in runs if run is not None]
    coverage = [measure for measure in measures if measure.sentence]
    return Verdict(checked, existing, coverage, n_wanted=len(fitting) - len(existing))


def _reads(checked: Checked) -> Sequence[str]:
    return (checked.encode_config or EncodeConfigChoice(name="", number_type="")).reads


def _form_page(request: HttpRequest, form: SubmissionForm, verdict: Verdict | None) -> HttpResponse:
    """The whole page, or for htmx the form with its report."""
    context: dict[str, Any] = {"form": form, "verdict": verdict, "pause": open_pause(), "section": "submit"}
    if request.htmx and not request.htmx.boosted:
        return render(request, "submissions/_form.html", context)
    return render(request, "submissions/submit.html", {**context, "submissions": submissions_of(request.user)})


@require_safe
@never_cache
@signed_in_required
def submission_page(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """Follow a submission: the state of its newest run, for its submitter and for administrators."""
    submission = _own_submission(request, submission_id)
    detail = run_detail(submission.latest.run_id)
    context = {
        **run_context(request, detail),
        "submission": submission,
        "may_cancel": submission.may_be_cancelled_by(request.user),
        "may_publish": submission.is_private and request.user.pk == submission.submitter_id,
        "may_resubmit": submission.may_be_resubmitted_by(request.user),
    }
    return render(request, "submissions/submission.html", context)


@require_POST
@signed_in_required
def submission_cancel(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """Cancel the newest run of a submission."""
    submission = _own_submission(request, submission_id)
    if submission.latest.is_active and not submission.may_be_cancelled_by(request.user):
        raise PermissionDenied("An administrator started this run; only an administrator can cancel it.")
    try:
        _cancel(submission, request.user)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Cancelled. You can submit the same revision again whenever you like.")
    return redirect("submission-detail", submission_id=submission_id)


@require_POST
@signed_in_required
def submission_release(request: HttpRequest, submission_id: UUID) -> HttpResponse:
    """Publish a private submission, or let it be published as soon as it has finished."""
    submission = submission_detail(submission_id)
    if submission is None or not submission.may_be_seen_by(request.user):
        raise Http404("There is no such submission.")
    if request.user.pk != submission.submitter_id:
        raise PermissionDenied("Only its submitter can publish a private submission.")
    try:
        submission_publish(submission_id=submission_id, actor=request.user.get_username())
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "It is public now. Its result goes on the boards as soon as there is one.")
    return redirect("submission-detail", submission_id=submission_id)


def _cancel(submission: SubmissionDetail, person: User) -> None:
    """Cancel the newest run; what an administrator cancels of somebody else's stands in the log of acts."""
    run_id, reason = submission.latest.run_id, "cancelled on request"
    if person.pk == submission.submitter_id:
        run_cancel(run_id=run_id, actor=person.get_username(), reason=reason)
    else:
        run_cancel_for_others(run_id=run_id, actor=person, reason=reason)


def _own_submission(request: HttpRequest, submission_id: UUID) -> SubmissionDetail:
    """The submission, if this person may follow it."""
    submission = submission_detail(submission_id)
    if submission is None:
        raise Http404("There is no such submission.")
    if submission.is_private and not submission.may_be_seen_by(request.user):
        raise Http404("There is no such submission.")
    if not submission.may_be_seen_by(request.user):
        raise PermissionDenied("This submission belongs to somebody else. Its run has a public page in the queue.")
    return submission

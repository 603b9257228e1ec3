"""A run's public page, its live part, and what administrators do with a run."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.administration import ReasonForm
from leaderboard.selectors.child_logs import child_logs_for
from leaderboard.selectors.comparison import publication_comparison
from leaderboard.selectors.runs import RunDetail, run_detail
from leaderboard.selectors.visibility import may_see_run
from leaderboard.services.administration import run_cancel_for_others
from leaderboard.services.publishing import run_publish, run_withdraw
from leaderboard.views.access import staff_required
from leaderboard.views.provenance import environment_facts, pretty
from leaderboard.views.timeline import run_timeline


@require_safe
@never_cache
def run_page(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """A run for everybody; administrators also find what they can do with it."""
    _found_or_404(request, run_id)
    detail = _found(run_detail(run_id))
    return render(request, "runs/run.html", run_context(request, detail))


@require_safe
@never_cache
def run_progress(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The live part of a run's page, for polling. Once the run has ended, the page is asked to load itself again."""
    _found_or_404(request, run_id)
    detail = _found(run_detail(run_id, with_events=False))
    if request.htmx and not detail.facts.is_active:
        return HttpResponseClientRefresh()
    return render(
        request, "runs/_progress.html", {"run": detail.facts, "progress": detail.progress, "tasks": detail.tasks}
    )


@require_POST
@staff_required
def run_publish_result(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Put a run's result on the boards, in the place of the published one."""
    _found_or_404(request, run_id)
    try:
        run_publish(run_id=run_id, actor=request.user.get_username())
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Published. The boards show this run's scores now.")
    return redirect("run-detail", run_id=run_id)


@require_POST
@staff_required
def run_withdraw_result(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Take a run's result off the boards, for a reason."""
    _found_or_404(request, run_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(form.errors["reason"]))
        return redirect("run-detail", run_id=run_id)
    try:
        run_withdraw(run_id=run_id, actor=request.user.get_username(), reason=form.cleaned_data["reason"])
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Taken off the boards. Publish it here to bring it back.")
    return redirect("run-detail", run_id=run_id)


@require_POST
@staff_required
def run_cancel_active(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Stop a run."""
    _found_or_404(request, run_id)
    try:
        run_cancel_for_others(run_id=run_id, actor=request.user, reason="cancelled by an administrator")
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Cancelled. Workers drop it at their next heartbeat.")
    return redirect("run-detail", run_id=run_id)


def run_context(request: HttpRequest, detail: RunDetail) -> dict[str, Any]:
    """What the templates of a run need; its submitter also gets the log, administrators the comparison for publishing."""
    decides = request.user.is_staff and detail.facts.can_be_published
    description, environment = detail.facts.model_description, detail.facts.environment
    return {
        "section": "queue",
        "run": detail.facts,
        "tasks": detail.tasks,
        "progress": detail.progress,
        "events": detail.events,
        "timeline": run_timeline(detail, now=timezone.now()),
        "environment_facts": environment_facts(environment, description) if description or environment else [],
        "loaded": pretty(description),
        "child_logs": child_logs_for(request.user, run_id=detail.facts.run_id),
        "comparison": publication_comparison(detail.facts.run_id) if decides else None,
        "has_unfinished_tasks": detail.progress.n_succeeded < detail.progress.n_tasks,
    }


def _found(detail: RunDetail | None) -> RunDetail:
    if detail is None:
        raise Http404("There is no such run.")
    return detail


def _found_or_404(request: HttpRequest, run_id: UUID) -> None:
    """A private run is not there for strangers, nor one whose model's owner opted out."""
    if not may_see_run(request.user, run_id=run_id):
        raise Http404("There is no such run.")

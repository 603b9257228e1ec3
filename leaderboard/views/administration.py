"""Administrators' pages: what is stuck, which classes of workers are paused, people's limits, and costs."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.administration import ClassPauseForm, ClassResumeForm, CostsForm, LimitsForm
from leaderboard.selectors.acts import ActFilter, acts_page
from leaderboard.selectors.costs import costs
from leaderboard.selectors.limits import people_with_limits
from leaderboard.selectors.queue import class_pauses, open_pause, unsealed_workers
from leaderboard.selectors.stuck import stuck_items
from leaderboard.services.administration import limits_set, worker_class_pause, worker_class_resume
from leaderboard.views.access import staff_required

LATEST_ACTS = 8


@require_safe
@never_cache
@staff_required
def overview(request: HttpRequest) -> HttpResponse:
    """What needs an administrator, and where everything is."""
    context = {
        "section": "administration",
        "stuck": stuck_items(),
        "pause": open_pause(),
        "class_pauses": class_pauses(),
        "pause_form": ClassPauseForm(),
        "unsealed": unsealed_workers(),
        "latest": acts_page(ActFilter(), page=1).rows[:LATEST_ACTS],
    }
    return render(request, "administration/overview.html", context)


@require_POST
@staff_required
def class_pause(request: HttpRequest) -> HttpResponse:
    """Let the workers of a class take no work."""
    form = ClassPauseForm(request.POST)
    if not form.is_valid():
        messages.error(request, _first_problem(form))
        return redirect("administration")
    try:
        worker_class_pause(actor=request.user, **form.cleaned_data)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Paused. Its workers finish the tasks that they hold and then take no more.")
    return redirect("administration")


@require_POST
@staff_required
def class_resume(request: HttpRequest) -> HttpResponse:
    """Let the workers of a class take work again."""
    form = ClassResumeForm(request.POST)
    if not form.is_valid():
        messages.error(request, _first_problem(form))
        return redirect("administration")
    try:
        worker_class_resume(actor=request.user, **form.cleaned_data)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Its workers take work again, within a minute.")
    return redirect("administration")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_required
def limits(request: HttpRequest) -> HttpResponse:
    """Find a person and give them limits of their own."""
    words = request.GET.get("q", "")
    form = LimitsForm(request.POST if request.method == "POST" else None, initial={"username": words})
    if request.method == "POST" and form.is_valid():
        wanted = form.cleaned_data
        limits_set(
            actor=request.user,
            person=wanted["username"],
            per_day=wanted["per_day"],
            at_once=wanted["at_once"],
            reason=wanted["reason"],
        )
        messages.success(request, f"The limits of {wanted['username']} are set.")
        return redirect("limits")
    context = {
        "section": "administration",
        "form": form,
        "words": words,
        "people": people_with_limits(words),
        "general": {"per_day": settings.SUBMISSIONS_PER_DAY, "at_once": settings.SUBMISSIONS_AT_ONCE},
    }
    return render(request, "administration/limits.html", context)


@require_safe
@never_cache
@staff_required
def costs_page(request: HttpRequest) -> HttpResponse:
    """What evaluations cost by person, model or day."""
    form = CostsForm(request.GET)
    context: dict[str, Any] = {"section": "administration", "form": form}
    if not form.is_valid():
        return render(request, "administration/costs.html", context, status=400)
    wanted = form.cleaned_data
    found = costs(by=wanted["by"], days=wanted["days"])
    return render(request, "administration/costs.html", {**context, "costs": found, "by": wanted["by"]})


def _first_problem(form: Any) -> str:
    return next(iter(form.errors.values()))[0]

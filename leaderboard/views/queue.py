"""The queue and the workers, and the switch that pauses submissions."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.administration import PauseForm
from leaderboard.selectors.queue import queue_state
from leaderboard.services.administration import submissions_pause, submissions_resume
from leaderboard.views.access import staff_required
from leaderboard.views.paging import asked_page


@require_safe
@never_cache
def queue_page(request: HttpRequest) -> HttpResponse:
    """What waits, what runs, who works."""
    state = queue_state(asked_page(request))
    return render(request, "queue/queue.html", {"queue": state, "pause_form": PauseForm(), "section": "queue"})


@require_POST
@staff_required
def pause(request: HttpRequest) -> HttpResponse:
    """Take no submissions until resumed."""
    form = PauseForm(request.POST)
    if not form.is_valid():
        messages.error(request, " ".join(form.errors["reason"]))
        return redirect("queue")
    try:
        submissions_pause(actor=request.user, reason=form.cleaned_data["reason"])
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Submissions are paused. Runs that are queued go on.")
    return redirect("queue")


@require_POST
@staff_required
def resume(request: HttpRequest) -> HttpResponse:
    """Take submissions again."""
    try:
        submissions_resume(actor=request.user)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "Submissions are open again.")
    return redirect("queue")

"""The workers: what each is, what it does now, and what it has done."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.selectors.queue import open_pauses
from leaderboard.selectors.workers import worker_details


@require_safe
@never_cache
def workers_page(request: HttpRequest) -> HttpResponse:
    """Every worker of the last day, and what is paused."""
    context = {"workers": worker_details(), "pauses": open_pauses(), "section": "queue"}
    return render(request, "queue/workers.html", context)

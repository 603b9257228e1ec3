"""The workers: what each is, what it does now, and what it has done."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from leaderboard.selectors.workers import worker_details


@require_safe
@never_cache
def workers_page(request: HttpRequest) -> HttpResponse:
    """Every worker of the last day."""
    return render(request, "queue/workers.html", {"workers": worker_details(), "section": "queue"})

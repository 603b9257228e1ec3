"""Reruns: what they would do and cost, then the queue, and in the end the decision which of them to publish."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.administration import RerunForm
from leaderboard.models import Run
from leaderboard.selectors.queue import n_workers_up
from leaderboard.selectors.reruns import RerunPlan, RerunScope, published_sources, rerun_plan, sources_of
from leaderboard.selectors.waiting import waiting_reruns
from leaderboard.services.publishing import run_publish
from leaderboard.services.reruns import Requeued, reruns_create
from leaderboard.views.access import staff_required


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_required
def reruns_page(request: HttpRequest) -> HttpResponse:
    """Without parameters the form; with them a preview; posted, the reruns are queued."""
    data = request.POST if request.method == "POST" else request.GET
    form = RerunForm(data or None)
    if not form.is_bound or not form.is_valid():
        return render(request, "reruns/reruns.html", {"form": form, "section": "queue"})
    wanted = form.cleaned_data
    plan = rerun_plan(_sources(wanted), suite=wanted["suite"], scope=RerunScope(wanted["scope"]), tasks=wanted["task"])
    if request.method != "POST":
        context = {"form": form, "plan": plan, "wanted": wanted, "n_workers": n_workers_up(), "section": "queue"}
        return render(request, "reruns/reruns.html", context)
    done = reruns_create(
        plan=plan,
        actor=request.user,
        scope=RerunScope(wanted["scope"]),
        suite=wanted["suite"],
        tasks=wanted["task"],
        reason=wanted["reason"],
    )
    return _told(request, plan, done)


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@staff_required
def waiting_page(request: HttpRequest) -> HttpResponse:
    """The finished reruns that wait for a decision; posted, the chosen ones are published."""
    if request.method != "POST":
        return render(request, "reruns/waiting.html", {"reruns": waiting_reruns(), "section": "queue"})
    chosen = [rerun for rerun in waiting_reruns() if str(rerun.run_id) in request.POST.getlist("run")]
    published = 0
    for rerun in chosen:
        try:
            run_publish(run_id=rerun.run_id, actor=request.user.get_username())
        except ApplicationError as error:
            messages.error(request, f"{rerun.repo_id}, attempt {rerun.attempt}: {error.message}")
        else:
            published += 1
    if published:
        messages.success(request, f"Published {published} result{'' if published == 1 else 's'}.")
    elif not chosen:
        messages.error(request, "Choose at least one of the reruns that wait.")
    return redirect("reruns-waiting")


def _sources(wanted: dict[str, Any]) -> Sequence[Run]:
    if wanted["suite"]:
        return published_sources(wanted["suite"])
    return sources_of([run.pk for run in wanted["run"]])


def _told(request: HttpRequest, plan: RerunPlan, done: Requeued) -> HttpResponse:
    """Say of every run what became of it, and go where the reruns can be seen."""
    for source, reason in [*done.refused, *((left.source, left.reason) for left in plan.left_out)]:
        messages.error(request, f"{source}: {reason}")
    if len(done.runs) == 1:
        run = done.runs[0]
        messages.success(request, f"Queued as attempt {run.attempt}, behind the submissions that wait.")
        return redirect("run-detail", run_id=run.pk)
    if done.runs:
        messages.success(request, f"Queued {len(done.runs)} new attempts, behind the submissions that wait.")
    return redirect("queue")

"""Runs with their history, tasks and scores; and the way to reruns of any number of them at once."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse

from leaderboard.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from leaderboard.models import AggregateScore, Run, RunEvent, Score, TaskRun
from leaderboard.selectors.reruns import RerunScope


class RunEventInline(ReadOnlyInline):
    model = RunEvent
    fields = ["at", "from_state", "to_state", "actor", "reason"]
    readonly_fields = fields
    show_change_link = False


class AggregateScoreInline(ReadOnlyInline):
    model = AggregateScore
    fields = ["scope", "key", "metric", "value", "lower", "upper", "n_tasks", "n_expected"]
    show_change_link = False


class ScoreInline(ReadOnlyInline):
    model = Score
    fields = ["metric", "value", "lower", "upper", "is_main"]
    show_change_link = False


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ["revision", "suite", "attempt", "state", "is_published", "error_code", "created_at", "finished_at"]
    list_filter = ["state", "is_published", "suite", "error_kind"]
    list_select_related = ["revision__model", "suite"]
    search_fields = ["=id", "revision__model__repo_id", "revision__commit"]
    date_hierarchy = "created_at"
    inlines = [RunEventInline, AggregateScoreInline]
    actions = ["rerun", "rerun_failed_tasks_only"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).select_related("revision__model", "suite")

    def view_on_site(self, run: Run) -> str:
        return reverse("run-detail", args=[run.pk])

    @admin.action(description="Rerun …", permissions=["view"])
    def rerun(self, request: HttpRequest, runs: QuerySet[Run]) -> HttpResponse:
        return self._preview(runs, RerunScope.ALL)

    @admin.action(description="Rerun tasks without a result …", permissions=["view"])
    def rerun_failed_tasks_only(self, request: HttpRequest, runs: QuerySet[Run]) -> HttpResponse:
        return self._preview(runs, RerunScope.FAILED)

    def _preview(self, runs: QuerySet[Run], scope: RerunScope) -> HttpResponse:
        """Show what it would cost; the page there queues."""
        query = QueryDict(mutable=True)
        query.setlist("run", [str(run.pk) for run in runs])
        query["scope"] = scope
        return redirect(f"{reverse('reruns')}?{query.urlencode()}")


@admin.register(TaskRun)
class TaskRunAdmin(ReadOnlyAdmin):
    list_display = ["task", "run", "state", "n_queries", "error_code", "lease_owner", "lease_expires_at"]
    list_filter = ["state", "error_kind"]
    list_select_related = ["task", "run__revision__model", "run__suite"]
    search_fields = ["task__name", "run__revision__model__repo_id", "=run__id"]
    exclude = ["outcomes"]
    inlines = [ScoreInline]

"""What people asked for, pauses, and what people were told."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import Delivery, Submission, SubmissionPause, WorkerClassPause


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    list_display = ["revision", "suite", "submitter", "is_private", "created_at", "closed_at"]
    list_filter = ["suite", "is_private", "training_data"]
    list_select_related = ["revision__model", "suite", "submitter"]
    search_fields = ["revision__model__repo_id", "submitter__username"]


@admin.register(SubmissionPause)
class SubmissionPauseAdmin(ReadOnlyAdmin):
    list_display = ["reason", "started_by", "started_at", "ended_at"]
    list_select_related = ["started_by"]
    search_fields = ["reason", "started_by__username"]


@admin.register(WorkerClassPause)
class WorkerClassPauseAdmin(ReadOnlyAdmin):
    list_display = ["worker_class", "reason", "started_by", "started_at", "ended_at"]
    list_filter = ["worker_class"]
    list_select_related = ["started_by"]
    search_fields = ["reason", "started_by__username"]


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ["run", "recipient", "channel", "outcome", "state", "attempts", "trouble", "next_attempt_at"]
    list_filter = ["state", "channel", "outcome"]
    search_fields = ["=run__id", "recipient__username", "run__revision__model__repo_id"]
    list_select_related = ["recipient", "run__revision__model", "run__suite"]

"""Findings about training data: recorded on the site."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import TrainingDataMark


@admin.register(TrainingDataMark)
class TrainingDataMarkAdmin(ReadOnlyAdmin):
    list_display = ["model", "dataset", "verdict", "reason", "marked_by", "marked_at", "is_current"]
    list_filter = ["verdict", "is_current"]
    list_select_related = ["model", "marked_by"]
    search_fields = ["model__repo_id", "dataset"]

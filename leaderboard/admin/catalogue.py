"""Suites and tasks: declared by suite manifests, stored by the catalogue's service."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import Suite, Task


@admin.register(Suite)
class SuiteAdmin(ReadOnlyAdmin):
    list_display = ["slug", "version", "title", "kind", "synthetic", "is_live", "created_at"]
    list_filter = ["kind", "is_live", "synthetic"]
    search_fields = ["slug", "title"]


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = ["name", "suite", "kind", "family", "domain", "modality", "level", "is_installed", "n_queries"]
    list_filter = ["suite", "kind", "family", "domain", "modality", "level", "is_installed"]
    list_select_related = ["suite"]
    search_fields = ["name", "title"]

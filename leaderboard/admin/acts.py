"""The log of acts, read-only as everywhere."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import Act


@admin.register(Act)
class ActAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor", "kind", "subject", "reason"]
    list_filter = ["kind"]
    search_fields = ["actor", "subject", "reason"]
    date_hierarchy = "at"

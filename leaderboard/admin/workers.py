"""Workers that have reported themselves."""

from django.contrib import admin

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import Worker


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "device", "current_run", "last_seen_at"]
    list_select_related = ["current_run__revision__model", "current_run__suite"]

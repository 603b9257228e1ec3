"""Workers that have reported themselves."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import Worker
from leaderboard.selectors.queue import unsealed_workers


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ["name", "device", "sandbox", "current_run", "last_seen_at"]
    list_filter = ["worker_class"]
    list_select_related = ["current_run__revision__model", "current_run__suite"]
    search_fields = ["name", "device"]

    @admin.display(description="Sealed by")
    def sandbox(self, worker: Worker) -> str:
        """What seals off the models that it evaluates."""
        return worker.versions.get("sandbox", "unknown")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with a warning while a worker evaluates without sealing."""
        if names := unsealed_workers():
            messages.warning(
                request,
                f"These workers seal nothing off (SANDBOX=none): {', '.join(names)}. A submitted model has their"
                " network, their files and their rights.",
            )
        return super().changelist_view(request, extra_context)

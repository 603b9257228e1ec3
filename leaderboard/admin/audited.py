"""Rows that administrators may change here: each change is an act in the log, in the transaction that makes it."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest

from leaderboard.models.vocabulary import ActKind
from leaderboard.services.acts import act_record


class AuditedMixin:
    """Django writes its own log in the transaction of the change; the act goes the same way.

    Rows are deleted one by one: the action that deletes many is not in a transaction.
    """

    act_kind = ActKind.ROWS

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def log_addition(self, request: HttpRequest, obj: models.Model, message: Any) -> LogEntry:
        self._record(request, obj, "added", message)
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: models.Model, message: Any) -> LogEntry:
        self._record(request, obj, "changed", message)
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[LogEntry]:
        for row in queryset:
            self._record(request, row, "deleted", "")
        return super().log_deletions(request, queryset)

    def _record(self, request: HttpRequest, row: models.Model, how: str, message: Any) -> None:
        act_record(
            actor=request.user.get_username(),
            kind=self.act_kind,
            subject=f"{row._meta.verbose_name} {row}",  # noqa: SLF001 - public in spite of its name
            details={"how": how, "django": message},
        )

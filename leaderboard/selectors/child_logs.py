"""Reads what evaluating children wrote about a run, for those who may see it."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser

from leaderboard.models import ChildLog, Run, User


@dataclass(frozen=True, slots=True)
class ChildLogRow:
    """The end of what one worker's child wrote."""

    worker: str
    text: str
    written_at: datetime


def child_logs_for(user: User | AnonymousUser, *, run_id: object) -> list[ChildLogRow]:
    """The logs of a run that a person may read: its submitter and staff all of them, everybody else none."""
    if not user.is_authenticated:
        return []
    if not user.is_staff and not Run.objects.filter(pk=run_id, submission__submitter=user.pk).exists():
        return []
    return [
        ChildLogRow(*row)
        for row in ChildLog.objects.filter(run=run_id).exclude(text="").values_list("worker", "text", "written_at")
    ]

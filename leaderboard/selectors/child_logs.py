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


def may_read_logs(user: User | AnonymousUser, *, run_id: object) -> bool:
    """Whether a person may read what a run's children wrote: its submitter and staff, nobody else."""
    if not user.is_authenticated:
        return False
    return user.is_staff or Run.objects.filter(pk=run_id, submission__submitter=user.pk).exists()


def child_logs_for(user: User | AnonymousUser, *, run_id: object) -> list[ChildLogRow]:
    """The logs of a run that a person may read: all of them or none."""
    if not may_read_logs(user, run_id=run_id):
        return []
    return [
        ChildLogRow(*row)
        for row in ChildLog.objects.filter(run=run_id).exclude(text="").values_list("worker", "text", "written_at")
    ]

"""What evaluating children wrote, for the people whose models they evaluated."""

from django.db import models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from leaderboard.models.runs import Run

CHILD_LOG_CHARACTERS = 64 * 1024


class ChildLog(models.Model):
    """The end of what one worker's child wrote about a run, without anything of the worker's machine.

    The submitter and administrators read it, nobody else.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="child_logs")
    worker = models.CharField(max_length=200)
    text = models.TextField()
    written_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["run", "written_at"]
        constraints = [
            models.UniqueConstraint(fields=["run", "worker"], name="child_log_unique"),
            models.CheckConstraint(
                condition=LessThanOrEqual(Length("text"), CHILD_LOG_CHARACTERS), name="child_log_bounded"
            ),
        ]

    def __str__(self) -> str:
        return f"log of run {self.run_id} on {self.worker}"

"""What all published runs of a suite say together: computed by a worker, shown by the pages."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from leaderboard.models.catalogue import Suite


class BoardSnapshot(models.Model):
    """The statistics of a board at one moment. Never changed once stored; a newer one takes its place.

    `content` is a document of `evaluation/schemas/board.schema.json`, or of `probe_board.schema.json` for a probing
    suite, whose models are ids of runs. A result that was measured on other data than most is left out of it:
    `left_out` says in which tasks, by run. `differences` holds the paired differences between the best models.
    """

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="snapshots")
    built_at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)
    runs = ArrayField(models.UUIDField(), help_text="The published runs that it covers.")
    tasks = ArrayField(models.CharField(max_length=128), help_text="The installed tasks that it covers.")
    content = models.JSONField()
    differences = models.JSONField()
    left_out = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["-built_at"]
        constraints = [
            models.UniqueConstraint(fields=["suite"], condition=Q(is_current=True), name="board_snapshot_one_current"),
        ]

    def __str__(self) -> str:
        return f"{self.suite} at {self.built_at:%Y-%m-%d %H:%M}"

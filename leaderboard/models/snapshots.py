"""What all published runs of a suite say together: computed by a worker, shown by the pages."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from leaderboard.models.catalogue import Suite
from leaderboard.models.vocabulary import HEX_64, AggregateScope, ProbeBoardScope, matches

BOARD_SCOPES = (*AggregateScope.values, *ProbeBoardScope.values)


class BoardSnapshot(models.Model):
    """The statistics of a board at one moment. Never changed once stored; a newer one takes its place.

    `content` is a document of `evaluation/schemas/board.schema.json`, or of `probe_board.schema.json` for a probing
    suite, whose models are ids of runs. A result that was measured on other data than most is left out of it:
    `left_out` says in which tasks, by run. `differences` holds the paired differences between the best models.
    `training_data` is a digest of what was known of the models' training data when its boards were made, empty for a
    probing suite, whose boards do not show it.
    """

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="snapshots")
    built_at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)
    runs = ArrayField(models.UUIDField(), help_text="The published runs that it covers.")
    tasks = ArrayField(models.CharField(max_length=128), help_text="The installed tasks that it covers.")
    content = models.JSONField()
    differences = models.JSONField()
    left_out = models.JSONField(default=dict, blank=True)
    training_data = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["-built_at"]
        constraints = [
            models.UniqueConstraint(fields=["suite"], condition=Q(is_current=True), name="board_snapshot_one_current"),
        ]

    def __str__(self) -> str:
        return f"{self.suite} at {self.built_at:%Y-%m-%d %H:%M}"


class BoardTable(models.Model):
    """One board of a snapshot as pages show it, so that a request computes nothing. Never changed once stored.

    `scope` and `key` name the board: an `AggregateScope` and a group of it for a retrieval suite, a `ProbeBoardScope`
    and a modality's or level's key for a probing suite. `content` is what `leaderboard.selectors.board_documents` and
    `leaderboard.selectors.probe_documents` write and read; `etag` is a digest of it, and `layout` says which classes it is
    of (`leaderboard.selectors.board_layout`): a table of another layout is made again and never read.
    """

    snapshot = models.ForeignKey(BoardSnapshot, on_delete=models.CASCADE, related_name="tables")
    scope = models.CharField(max_length=16)
    key = models.CharField(max_length=100, blank=True)
    layout = models.CharField(max_length=16)
    content = models.JSONField()
    etag = models.CharField(max_length=64)

    class Meta:
        ordering = ["snapshot", "scope", "key"]
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "scope", "key"], name="board_table_unique"),
            models.CheckConstraint(condition=Q(scope__in=BOARD_SCOPES), name="board_table_scope_known"),
            matches("etag", HEX_64, name="board_table_etag_hex"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.key} of {self.snapshot}"


class BoardChange(models.Model):
    """A moment at which something that boards show changed. Triggers in the database add rows, nothing else does.

    The greatest number and the count of rows together name the state of all boards: a transaction that commits late may
    add a smaller number than the greatest, but it adds to the count.
    """

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"change {self.pk}"

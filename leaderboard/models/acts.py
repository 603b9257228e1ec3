"""What administrators did: lines that are only ever added, which a trigger in the database sees to."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from leaderboard.models.vocabulary import ActKind, one_of


class Act(models.Model):
    """One administrative act. It names people and things as they were called then, so that nothing has to change later.

    The database refuses UPDATE, DELETE and TRUNCATE of these rows.
    """

    at = models.DateTimeField(db_default=Now(), editable=False)
    actor = models.CharField(max_length=200, help_text="The name of the person, or of the program.")
    kind = models.CharField(max_length=24, choices=ActKind)
    subject = models.TextField(help_text="What it was done to, in words.")
    run_id = models.UUIDField(null=True, blank=True, help_text="The run that it was done to, if it was one.")
    repo_id = models.TextField(blank=True, default="", help_text="The repository that it concerns, if any.")
    reason = models.TextField(blank=True, default="")
    details = models.JSONField(default=dict, blank=True, help_text="What changed, as facts.")

    class Meta:
        ordering = ["-at", "-id"]
        constraints = [
            one_of("kind", ActKind, name="act_kind_known"),
            models.CheckConstraint(condition=~Q(actor=""), name="act_has_actor"),
            models.CheckConstraint(condition=~Q(subject=""), name="act_has_subject"),
        ]
        indexes = [
            models.Index(fields=["-at", "-id"], name="act_newest"),
            models.Index(fields=["actor", "-at"], name="act_by_actor"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by {self.actor}: {self.subject}"

"""What administrators found about the data that models were trained on."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.models.embedding_models import EmbeddingModel
from leaderboard.models.vocabulary import TrainingVerdict, one_of


class TrainingDataMark(models.Model):
    """An administrator's finding about a model, in all of its revisions, and a data set. It overrules a declaration.

    A finding is never changed: a newer one takes its place, or it is lifted. At most one stands.
    """

    model = models.ForeignKey(EmbeddingModel, on_delete=models.PROTECT, related_name="training_data_marks")
    dataset = models.CharField(max_length=64)
    verdict = models.CharField(max_length=16, choices=TrainingVerdict)
    reason = models.CharField(max_length=300, help_text="Where this is known from.")
    marked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    marked_at = models.DateTimeField(auto_now_add=True)
    is_current = models.BooleanField(default=True)

    class Meta:
        ordering = ["-marked_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["model", "dataset"], condition=Q(is_current=True), name="training_data_mark_one_current"
            ),
            one_of("verdict", TrainingVerdict, name="training_data_mark_verdict_known"),
            models.CheckConstraint(condition=~Q(dataset="") & ~Q(reason=""), name="training_data_mark_says_why"),
        ]

    def __str__(self) -> str:
        return f"{self.model}: {self.get_verdict_display().lower()} ({self.dataset})"

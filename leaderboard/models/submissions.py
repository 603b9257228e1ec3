"""What people ask for, and whether they may."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from leaderboard.models.catalogue import Suite
from leaderboard.models.embedding_models import ModelRevision
from leaderboard.models.vocabulary import TrainingDataStatement, WorkerClass, one_of


class Submission(models.Model):
    """A person's request to evaluate one revision on one suite. It is open until its run has ended.

    While it `is_private`, its runs are seen by its submitter and by staff alone, and none of them is published.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    revision = models.ForeignKey(ModelRevision, on_delete=models.PROTECT, related_name="submissions")
    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="submissions")
    submitter = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions")
    training_data = models.CharField(max_length=8, choices=TrainingDataStatement, default=TrainingDataStatement.UNKNOWN)
    declared_training_data = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    is_private = models.BooleanField(default=False, help_text="Kept from the public until its submitter publishes it.")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["revision", "suite"], condition=Q(closed_at__isnull=True), name="submission_one_open"
            ),
            one_of("training_data", TrainingDataStatement, name="submission_training_data_known"),
            models.CheckConstraint(
                condition=Q(training_data=TrainingDataStatement.LISTED, declared_training_data__len__gte=1)
                | (~Q(training_data=TrainingDataStatement.LISTED) & Q(declared_training_data=[])),
                name="submission_training_data_listed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision} on {self.suite}"


class SubmissionPause(models.Model):
    """A span of time in which no submissions are taken. At most one is open."""

    reason = models.CharField(max_length=300)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    is_open = models.BooleanField(default=True)

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["is_open"], condition=Q(is_open=True), name="submission_pause_one_open"),
            models.CheckConstraint(
                condition=Q(is_open=True, ended_at__isnull=True) | Q(is_open=False, ended_at__isnull=False),
                name="submission_pause_open_has_no_end",
            ),
        ]

    def __str__(self) -> str:
        return self.reason


class WorkerClassPause(models.Model):
    """A span of time in which the workers of a class take no work. At most one a class is open."""

    worker_class = models.CharField(max_length=16, choices=WorkerClass)
    reason = models.CharField(max_length=300)
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    started_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    is_open = models.BooleanField(default=True)

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["worker_class"], condition=Q(is_open=True), name="worker_class_pause_one_open"
            ),
            one_of("worker_class", WorkerClass, name="worker_class_pause_class_known"),
            models.CheckConstraint(
                condition=Q(is_open=True, ended_at__isnull=True) | Q(is_open=False, ended_at__isnull=False),
                name="worker_class_pause_open_has_no_end",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker_class}: {self.reason}"

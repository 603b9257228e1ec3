"""Who is told when a run has ended, and what became of telling them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from leaderboard.models.runs import Run
from leaderboard.models.vocabulary import Channel, DeliveryState, RunOutcome, one_of


class NotificationSettings(models.Model):
    """How a person wants to be told. A webhook always has a secret, which signs what it is sent."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="notification_settings"
    )
    by_email = models.BooleanField(default=True)
    webhook_url = models.CharField(max_length=500, blank=True, default="")
    webhook_secret = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(webhook_url="", webhook_secret="") | (~Q(webhook_url="") & ~Q(webhook_secret="")),
                name="notification_settings_url_with_secret",
            ),
        ]

    def __str__(self) -> str:
        return f"notifications of {self.user}"


class Delivery(models.Model):
    """One message to one person about one run, with what became of sending it.

    `attempts` counts attempts and fences their writes; an attempt that never reported is made again after
    `next_attempt_at`. The receiver of a webhook knows a repeated message by the delivery's id.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="deliveries")
    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=8, choices=Channel)
    outcome = models.CharField(max_length=16, choices=RunOutcome)
    address = models.CharField(max_length=500)
    content = models.JSONField(help_text="What is told, as facts.")
    state = models.CharField(max_length=16, choices=DeliveryState, default=DeliveryState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True, help_text="The last HTTP status, where there was one.")
    trouble = models.CharField(max_length=300, blank=True, default="", help_text="Why the last attempt failed.")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["run", "recipient", "channel"], name="delivery_once"),
            one_of("channel", Channel, name="delivery_channel_known"),
            one_of("outcome", RunOutcome, name="delivery_outcome_known"),
            one_of("state", DeliveryState, name="delivery_state_known"),
            models.CheckConstraint(condition=~Q(address=""), name="delivery_has_address"),
            models.CheckConstraint(
                condition=Q(state=DeliveryState.WAITING, finished_at__isnull=True)
                | (~Q(state=DeliveryState.WAITING) & Q(finished_at__isnull=False)),
                name="delivery_waiting_is_not_finished",
            ),
            models.CheckConstraint(
                condition=~Q(state=DeliveryState.FAILED) | ~Q(trouble=""), name="delivery_failed_says_why"
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], condition=Q(state=DeliveryState.WAITING), name="delivery_to_be_sent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.channel} to {self.recipient} about run {self.run_id}"

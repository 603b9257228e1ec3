"""Reads how a person is told of their runs, and what became of it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from leaderboard.models import Delivery, NotificationSettings, User

RECENT_DELIVERIES = 20


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A message to a person."""

    run_id: UUID
    repo_id: str
    suite_title: str
    outcome_title: str
    channel_title: str
    address: str
    state: str
    state_title: str
    attempts: int
    trouble: str
    created_at: datetime
    next_attempt_at: datetime | None


def notification_settings_of(user: User) -> NotificationSettings:
    """A person's settings, or the defaults, not stored."""
    return NotificationSettings.objects.filter(user=user).first() or NotificationSettings(user=user)


def deliveries_of(user: User) -> list[DeliveryRow]:
    """The last messages to a person, the newest first."""
    found = Delivery.objects.filter(recipient=user).select_related("run__revision__model", "run__suite")
    return [
        DeliveryRow(
            run_id=delivery.run_id,
            repo_id=delivery.run.revision.model.repo_id,
            suite_title=delivery.run.suite.title,
            outcome_title=delivery.get_outcome_display(),
            channel_title=delivery.get_channel_display(),
            address=delivery.address,
            state=delivery.state,
            state_title=delivery.get_state_display(),
            attempts=delivery.attempts,
            trouble=delivery.trouble,
            created_at=delivery.created_at,
            next_attempt_at=None if delivery.finished_at else delivery.next_attempt_at,
        )
        for delivery in found[:RECENT_DELIVERIES]
    ]

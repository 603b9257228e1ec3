"""Deletes what is kept for people for a time alone. Runs, their results and their history stay for ever."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models.functions import Now

from leaderboard.models import ChildLog, Delivery
from leaderboard.models.vocabulary import FINAL_RUN_STATES, DeliveryState


@dataclass(frozen=True, slots=True)
class Deleted:
    """How many rows were deleted."""

    child_logs: int
    deliveries: int


@transaction.atomic
def old_records_delete() -> Deleted:
    """Delete the logs of runs that ended more than `CHILD_LOG_DAYS` ago and messages delivered `DELIVERY_DAYS` ago.

    What is still to be sent, and what could not be, stays. Safe to run twice at once.

    Raises:
        ImproperlyConfigured: one of the two settings is less than a day.
    """
    logs = ChildLog.objects.filter(run__state__in=FINAL_RUN_STATES, run__finished_at__lt=Now() - _age("CHILD_LOG_DAYS"))
    deliveries = Delivery.objects.filter(state=DeliveryState.DELIVERED, finished_at__lt=Now() - _age("DELIVERY_DAYS"))
    return Deleted(child_logs=logs.delete()[0], deliveries=deliveries.delete()[0])


def _age(setting: str) -> timedelta:
    days = getattr(settings, setting)
    if days < 1:
        raise ImproperlyConfigured(f"{setting} is {days}; it must be at least 1 day. Nothing was deleted.")
    return timedelta(days=days)

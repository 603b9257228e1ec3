"""Telling people that a run has ended. What is to be sent stands in the database; workers send it."""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.exceptions import TransitionRefused
from leaderboard.models import Delivery, NotificationSettings, Run, User
from leaderboard.models.vocabulary import Channel, DeliveryState, RunOutcome, RunState

OUTCOMES = {RunState.SUCCEEDED: RunOutcome.SUCCEEDED, RunState.FAILED: RunOutcome.FAILED}
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
"""Between attempts; after the last one a message is given up, most of a day after the first attempt."""
ATTEMPT_LIMIT = timedelta(minutes=2)
"""An attempt that has not reported by then is taken for lost and made again."""
SECRET_BYTES = 32


def deliveries_plan(run: Run) -> None:
    """Plan to tell the submitter that a run has ended. Runs inside the transaction that ends it.

    Nobody is told of a cancelled run, nor of a rerun while an earlier result stands on the boards: for the submitter
    nothing has changed until an administrator publishes it.
    """
    outcome = OUTCOMES.get(RunState(run.state))
    if outcome is None or run.submission is None or _stands_already(run):
        return
    person = run.submission.submitter
    if not person.is_active:
        return
    preferences = NotificationSettings.objects.filter(user=person).first() or NotificationSettings(user=person)
    addresses = {
        Channel.EMAIL: person.email if preferences.by_email else "",
        Channel.WEBHOOK: preferences.webhook_url,
    }
    content = _content(run, outcome)
    for channel, address in addresses.items():
        if address:
            Delivery.objects.get_or_create(
                run=run,
                recipient=person,
                channel=channel,
                defaults={"outcome": outcome, "address": address, "content": content, "next_attempt_at": Now()},
            )


def _stands_already(run: Run) -> bool:
    published = Run.objects.filter(revision=run.revision_id, suite=run.suite_id, is_published=True)
    return published.exclude(pk=run.pk).exists()


def _content(run: Run, outcome: RunOutcome) -> dict[str, Any]:
    revision = run.revision
    return {
        "event": f"run.{outcome}",
        "run": str(run.pk),
        "submission": str(run.submission_id),
        "attempt": run.attempt,
        "model": revision.model.repo_id,
        "commit": revision.commit,
        "adapter": revision.adapter_repo_id,
        "adapter_commit": revision.adapter_commit,
        "suite": run.suite.slug,
        "suite_version": run.suite.version,
        "suite_title": run.suite.title,
        "finished_at": run.finished_at.isoformat() if run.finished_at else "",
        "error": {"code": run.error_code, "kind": run.error_kind, "message": run.error_message}
        if run.error_code
        else None,
        "url": f"{settings.SITE_URL}/submissions/{run.submission_id}/",
    }


@transaction.atomic
def delivery_claim() -> Delivery | None:
    """Take the message that has been due for longest, None when none is due. Its attempt is counted before it is made."""
    due = Delivery.objects.filter(state=DeliveryState.WAITING, next_attempt_at__lte=Now())
    due.filter(attempts__gt=len(PAUSES)).update(
        state=DeliveryState.FAILED, finished_at=Now(), trouble="The last attempt never reported."
    )
    delivery = (
        due.select_for_update(skip_locked=True, of=("self",))
        .select_related("recipient__notification_settings")
        .order_by("next_attempt_at")
        .first()
    )
    if delivery is not None:
        delivery.attempts += 1
        delivery.next_attempt_at = timezone.now() + ATTEMPT_LIMIT
        delivery.save(update_fields=["attempts", "next_attempt_at"])
    return delivery


def delivery_succeed(*, delivery_id: UUID, attempt: int, status: int | None = None) -> None:
    """Record that an attempt reached its receiver."""
    _record(delivery_id, attempt, state=DeliveryState.DELIVERED, status=status, trouble="", finished_at=Now())


def delivery_fail(
    *, delivery_id: UUID, attempt: int, trouble: str, status: int | None = None, is_final: bool = False
) -> None:
    """Record that an attempt failed. It is made again after a pause, unless that is useless or was done often enough."""
    told = {"status": status, "trouble": trouble[: Delivery._meta.get_field("trouble").max_length]}  # noqa: SLF001 - public in spite of its name
    if is_final or attempt > len(PAUSES):
        _record(delivery_id, attempt, state=DeliveryState.FAILED, finished_at=Now(), **told)
    else:
        _record(delivery_id, attempt, next_attempt_at=Now() + PAUSES[attempt - 1], **told)


def _record(delivery_id: UUID, attempt: int, **changes: object) -> None:
    """Write what came of an attempt, unless it was taken for lost and another has begun."""
    Delivery.objects.filter(pk=delivery_id, attempts=attempt, state=DeliveryState.WAITING).update(**changes)


def notification_settings_save(*, user: User, values: Mapping[str, Any]) -> NotificationSettings:
    """Store how a person wants to be told. The secret is new with every new address, and goes with the address."""
    stored, _ = NotificationSettings.objects.get_or_create(user=user)
    stored.by_email = values["by_email"]
    if values["webhook_url"] != stored.webhook_url:
        stored.webhook_url = values["webhook_url"]
        stored.webhook_secret = _new_secret() if stored.webhook_url else ""
    stored.save()
    return stored


def webhook_secret_renew(*, user: User) -> None:
    """Sign with a new secret from now on.

    Raises:
        TransitionRefused: the person has no webhook.
    """
    changed = (
        NotificationSettings.objects.filter(user=user).exclude(webhook_url="").update(webhook_secret=_new_secret())
    )
    if not changed:
        raise TransitionRefused("Give an address first; a secret is made with it.")


def _new_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)

"""Sends what is due, one message after the other, and records what came of each attempt."""

import http.client
import logging
import smtplib
import time

from django.conf import settings
from django.core.mail import BadHeaderError

from leaderboard.config.logs import about_run
from leaderboard.models import Delivery
from leaderboard.models.vocabulary import Channel
from leaderboard.services.notifications import delivery_claim, delivery_fail, delivery_succeed
from workers.notifications.addresses import AddressRefused, AddressUnknown, resolve
from workers.notifications.email import email_of
from workers.notifications.webhook import post

SUCCESSES = range(200, 300)
GONE = 410

logger = logging.getLogger(__name__)


def send_due() -> int:
    """Make an attempt for every message that is due; returns how many were made. Any number of workers may do so."""
    attempts = 0
    while (delivery := delivery_claim()) is not None:
        attempts += 1
        with about_run(delivery.run_id):
            if delivery.channel == Channel.EMAIL:
                _send_email(delivery)
            else:
                _send_webhook(delivery)
    return attempts


def _send_email(delivery: Delivery) -> None:
    try:
        email_of(delivery).send()
    except BadHeaderError as error:
        _failed(delivery, f"The e-mail cannot be written: {error}", is_final=True)
    except (smtplib.SMTPException, OSError) as error:
        _failed(delivery, f"The mail server did not take it: {error}")
    else:
        _succeeded(delivery)


def _send_webhook(delivery: Delivery) -> None:
    stored = getattr(delivery.recipient, "notification_settings", None)
    if stored is None or stored.webhook_url != delivery.address:
        _failed(delivery, "The address was changed or removed before the message was sent.", is_final=True)
        return
    try:
        target = resolve(delivery.address, private=settings.WEBHOOKS_TO_PRIVATE_ADDRESSES)
        status = post(
            target,
            content=delivery.content,
            secret=stored.webhook_secret,
            delivery_id=delivery.pk,
            timestamp=int(time.time()),
        )
    except AddressRefused as error:
        _failed(delivery, str(error), is_final=True)
    except AddressUnknown as error:
        _failed(delivery, str(error))
    except (OSError, http.client.HTTPException) as error:
        _failed(delivery, f"The receiver could not be reached or did not answer in time ({type(error).__name__}).")
    else:
        _judge(delivery, status)


def _judge(delivery: Delivery, status: int) -> None:
    if status in SUCCESSES:
        _succeeded(delivery, status)
    else:
        _failed(delivery, f"The receiver answered with status {status}.", status=status, is_final=status == GONE)


def _succeeded(delivery: Delivery, status: int | None = None) -> None:
    delivery_succeed(delivery_id=delivery.pk, attempt=delivery.attempts, status=status)
    logger.info("run %s: %s delivered", delivery.run_id, delivery.channel)


def _failed(delivery: Delivery, trouble: str, *, status: int | None = None, is_final: bool = False) -> None:
    delivery_fail(delivery_id=delivery.pk, attempt=delivery.attempts, trouble=trouble, status=status, is_final=is_final)
    logger.warning("run %s: %s not delivered: %s", delivery.run_id, delivery.channel, trouble)

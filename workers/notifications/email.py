"""The e-mail that says how a run ended, in plain words."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage

from leaderboard.models import Delivery
from leaderboard.models.vocabulary import RunOutcome
from leaderboard.selectors.run_words import next_step


def email_of(delivery: Delivery) -> EmailMessage:
    """The message to send."""
    told = delivery.content
    succeeded = delivery.outcome == RunOutcome.SUCCEEDED
    return EmailMessage(
        subject=f"{told['model']} on {told['suite_title']}: {'evaluated' if succeeded else 'the evaluation failed'}",
        body="\n\n".join(_success(told) if succeeded else _failure(told)),
        to=[delivery.address],
        headers={"Message-ID": f"<{delivery.pk}@medboard>", "Auto-Submitted": "auto-generated"},
    )


def _success(told: Mapping[str, Any]) -> list[str]:
    return [
        f"{_subject(told)} was evaluated.",
        f"The result: {told['url']}",
        _closing(),
    ]


def _failure(told: Mapping[str, Any]) -> list[str]:
    return [
        f"{_subject(told)} could not be evaluated.",
        f"What happened: {told['error']['message']}",
        f"What to do next: {next_step(told['error']['kind'])}",
        f"More about it: {told['url']}",
        _closing(),
    ]


def _subject(told: Mapping[str, Any]) -> str:
    return f"Your submission of {told['model']} (commit {told['commit'][:8]}) to {told['suite_title']}"


def _closing() -> str:
    return f"Turn these e-mails off: {settings.SITE_URL}/notifications/"

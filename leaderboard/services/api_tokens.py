"""Making, using and revoking API tokens."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.exceptions import TokenLimitReached
from leaderboard.models import ApiToken, User
from leaderboard.models.vocabulary import ApiScope

BEGINNING = "mb_"
SECRET_BYTES = 32
PREFIX_LENGTH = 9
MAX_TOKENS = 20
"""Tokens of one person that work at once."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret: the only time that the secret exists in the site."""

    token: ApiToken
    secret: str


def api_token_create(*, user: User, name: str, scopes: Collection[ApiScope], days: int) -> NewToken:
    """Make a token that works for so many days.

    Raises:
        TokenLimitReached: this person has `MAX_TOKENS` that work.
    """
    secret = BEGINNING + secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if ApiToken.objects.filter(works(), user=user).count() >= MAX_TOKENS:
            raise TokenLimitReached(f"You have {MAX_TOKENS} tokens, and that is the limit. Revoke one of them first.")
        token = ApiToken.objects.create(
            user=user,
            name=name,
            prefix=secret[:PREFIX_LENGTH],
            secret_sha256=_digest(secret),
            scopes=sorted(scope.value for scope in scopes),
            expires_at=timezone.now() + timedelta(days=days),
        )
    return NewToken(token, secret)


def api_token_use(secret: str) -> ApiToken | None:
    """The token of a secret with its owner, or None where it does not work; the day of its use is noted.

    One query, and a second one on the first use of a day.
    """
    found = ApiToken.objects.select_related("user").filter(works(), secret_sha256=_digest(secret), user__is_active=True)
    token = found.first()
    today = timezone.now().date()
    if token is not None and token.last_used_on != today:
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=today)
    return token


def api_token_revoke(*, user: User, token_id: int) -> ApiToken | None:
    """Make a person's token useless from now on; None where they have no such token that still works."""
    with transaction.atomic():
        token = ApiToken.objects.select_for_update().filter(user=user, pk=token_id, revoked_at__isnull=True).first()
        if token is not None:
            token.revoked_at = Now()
            token.save(update_fields=["revoked_at"])
    return token


def works() -> Q:
    """Which tokens are neither revoked nor out of date."""
    return Q(revoked_at__isnull=True, expires_at__gt=Now())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

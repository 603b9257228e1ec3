"""Making, using and revoking API tokens. The log of acts has a line when one is made, first used, revoked or expires."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from leaderboard.exceptions import TokenLimitReached
from leaderboard.models import ApiToken, User
from leaderboard.models.vocabulary import ActKind, ApiScope
from leaderboard.services.acts import act_record
from leaderboard.services.leases import REAPER

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
        _act(token, ActKind.TOKEN_CREATE, actor=user.get_username())
    return NewToken(token, secret)


def api_token_use(secret: str) -> ApiToken | None:
    """The token of a secret with its owner, or None where it does not work; the day of its use is noted.

    One query, and a second one on the first use of a day. The first use of all is an act.
    """
    found = ApiToken.objects.select_related("user").filter(works(), secret_sha256=_digest(secret), user__is_active=True)
    token = found.first()
    today = timezone.now().date()
    if token is not None and token.last_used_on is None:
        _first_use_note(token, today)
    elif token is not None and token.last_used_on != today:
        ApiToken.objects.filter(pk=token.pk).update(last_used_on=today)
    return token


@transaction.atomic
def _first_use_note(token: ApiToken, today: date) -> None:
    """Of requests that come at once, one finds the token unused."""
    if ApiToken.objects.filter(pk=token.pk, last_used_on__isnull=True).update(last_used_on=today):
        _act(token, ActKind.TOKEN_USE, actor=token.user.get_username())


def api_token_revoke(*, user: User, token_id: int) -> ApiToken | None:
    """Make a person's token useless from now on; None where they have no such token that still works."""
    with transaction.atomic():
        token = ApiToken.objects.select_for_update().filter(user=user, pk=token_id, revoked_at__isnull=True).first()
        if token is not None:
            _revoke(token, actor=user.get_username())
    return token


@transaction.atomic
def api_tokens_revoke_all(*, user: User) -> int:
    """Make every token of a person useless that still works; how many there were."""
    tokens = list(ApiToken.objects.select_for_update().filter(works(), user=user))
    for token in tokens:
        _revoke(token, actor=user.get_username())
    return len(tokens)


def _revoke(token: ApiToken, *, actor: str) -> None:
    token.revoked_at = Now()
    token.save(update_fields=["revoked_at"])
    _act(token, ActKind.TOKEN_REVOKE, actor=actor)


@transaction.atomic
def api_tokens_expire() -> int:
    """Write into the log which tokens have expired since this was last done; how many. Safe to run twice at once."""
    expired = ApiToken.objects.filter(expires_at__lte=Now(), revoked_at__isnull=True, is_expiry_recorded=False)
    tokens = list(expired.select_for_update(skip_locked=True, of=("self",)).select_related("user"))
    for token in tokens:
        _act(token, ActKind.TOKEN_EXPIRE, actor=REAPER)
    ApiToken.objects.filter(pk__in=[token.pk for token in tokens]).update(is_expiry_recorded=True)
    return len(tokens)


def _act(token: ApiToken, kind: ActKind, *, actor: str) -> None:
    """Tell of a token by what its owner sees of it."""
    details = {
        "beginning": token.prefix,
        "scopes": token.scopes,
        "expires_at": f"{token.expires_at:%Y-%m-%d %H:%M} UTC",
    }
    act_record(actor=actor, kind=kind, subject=f"{token.name} of {token.user.get_username()}", details=details)


def works() -> Q:
    """Which tokens are neither revoked nor out of date."""
    return Q(revoked_at__isnull=True, expires_at__gt=Now())


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()

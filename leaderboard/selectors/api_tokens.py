"""Reads a person's API tokens; the secrets are not stored anywhere."""

from dataclasses import dataclass
from datetime import date, datetime

from django.utils import timezone

from leaderboard.models import ApiToken, User
from leaderboard.models.vocabulary import ApiScope


@dataclass(frozen=True, slots=True)
class ApiTokenRow:
    """A token in its owner's list. `state` is "working", "expired" or "revoked"."""

    token_id: int
    name: str
    prefix: str
    scope_titles: tuple[str, ...]
    state: str
    created_at: datetime
    expires_at: datetime
    last_used_on: date | None

    @property
    def works(self) -> bool:
        """Whether requests with it are answered."""
        return self.state == "working"


def api_tokens_of(user: User) -> tuple[ApiTokenRow, ...]:
    """Every token of a person, the newest first. One query."""
    return tuple(
        ApiTokenRow(
            token_id=token.pk,
            name=token.name,
            prefix=token.prefix,
            scope_titles=tuple(ApiScope(scope).label for scope in token.scopes),
            state=_state(token),
            created_at=token.created_at,
            expires_at=token.expires_at,
            last_used_on=token.last_used_on,
        )
        for token in ApiToken.objects.filter(user=user)
    )


def _state(token: ApiToken) -> str:
    if token.revoked_at is not None:
        return "revoked"
    return "working" if token.expires_at > timezone.now() else "expired"

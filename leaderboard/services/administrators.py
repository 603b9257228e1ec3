"""Makes administrators."""

import secrets

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from leaderboard.exceptions import AdministratorRefused
from leaderboard.models import User


@transaction.atomic
def administrator_create(*, username: str, password: str | None = None) -> str:
    """Create an administrator; returns the password, which is made up where none is given.

    Raises:
        AdministratorRefused: the name is taken or impossible, or the password too weak.
    """
    chosen = secrets.token_urlsafe(18) if password is None else password
    user = User(username=username, is_staff=True, is_superuser=True)
    user.set_password(chosen)
    try:
        user.full_clean()
        validate_password(chosen, user)
    except ValidationError as error:
        raise AdministratorRefused(" ".join(error.messages)) from error
    user.save()
    return chosen

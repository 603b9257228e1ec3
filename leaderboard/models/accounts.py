"""People."""

from django.contrib.auth.models import AbstractUser


class User(AbstractUser):
    """A person with an account. Staff are administrators of the board."""

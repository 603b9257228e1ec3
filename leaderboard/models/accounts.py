"""People."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    """A person with an account. Staff are administrators of the board.

    The two limits are empty for most people: then the board's settings hold, and none for staff.
    """

    submissions_per_day = models.PositiveIntegerField(
        null=True, blank=True, help_text="Submissions within 24 hours; empty: what the settings say."
    )
    submissions_at_once = models.PositiveIntegerField(
        null=True, blank=True, help_text="Submissions that wait or run at once; empty: what the settings say."
    )

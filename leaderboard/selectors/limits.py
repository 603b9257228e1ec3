"""Reads who has limits of submissions of their own, and how much of them is used."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q
from django.db.models.functions import Now

from leaderboard.models import User

DAY = timedelta(days=1)
PEOPLE_SHOWN = 100


@dataclass(frozen=True, slots=True)
class PersonLimits:
    """A person's own limits, None where the settings hold, beside what they have submitted."""

    username: str
    is_staff: bool
    per_day: int | None
    at_once: int | None
    n_today: int
    n_open: int


def people_with_limits(words: str = "") -> list[PersonLimits]:
    """The people whose name holds the words; without words those who have limits of their own."""
    own = Q(submissions_per_day__isnull=False) | Q(submissions_at_once__isnull=False)
    found = User.objects.filter(Q(username__icontains=words) if words else own, is_active=True)
    counted = found.annotate(
        n_today=Count("submissions", filter=Q(submissions__created_at__gt=Now() - DAY)),
        n_open=Count("submissions", filter=Q(submissions__closed_at__isnull=True)),
    )
    return [
        PersonLimits(
            person.get_username(),
            person.is_staff,
            person.submissions_per_day,
            person.submissions_at_once,
            person.n_today,
            person.n_open,
        )
        for person in counted.order_by("username")[:PEOPLE_SHOWN]
    ]

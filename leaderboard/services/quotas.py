"""How much one person may submit. What failed through no fault of theirs does not count."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from leaderboard.exceptions import QuotaExceeded
from leaderboard.models import Submission, User
from leaderboard.models.vocabulary import ErrorKind, RunState

DAY = timedelta(days=1)

NOT_COUNTED = Q(runs__state=RunState.FAILED, runs__error_kind__in=[ErrorKind.INFRASTRUCTURE, ErrorKind.DATA]) | Q(
    runs__state=RunState.CANCELLED, runs__started_at__isnull=True
)
"""A machine or the board's data failed, or it was withdrawn before anybody worked on it."""


def quota_check(submitter: User) -> None:
    """Refuse a submission beyond a person's limits. Their account is locked until the end of the transaction.

    Raises:
        QuotaExceeded: as many as allowed are open, or were submitted within 24 hours.
    """
    person = User.objects.select_for_update().get(pk=submitter.pk)
    at_once = _limit(person, person.submissions_at_once, settings.SUBMISSIONS_AT_ONCE)
    n_open = Submission.objects.filter(submitter=person, closed_at__isnull=True).count()
    if at_once is not None and n_open >= at_once:
        raise QuotaExceeded(
            f"You have {n_open} submissions that wait or run, and {at_once} may do so at once."
            " Submit again when one has ended, or cancel one."
        )
    per_day = _limit(person, person.submissions_per_day, settings.SUBMISSIONS_PER_DAY)
    today = Submission.objects.filter(submitter=person, created_at__gt=Now() - DAY).exclude(
        pk__in=Submission.objects.filter(NOT_COUNTED, submitter=person).values("pk")
    )
    if per_day is not None and (n_today := today.count()) >= per_day:
        raise QuotaExceeded(
            f"You have submitted {n_today} times within 24 hours, and {per_day} is the limit."
            f" {_when_again(today, n_today - per_day)}"
        )


def _limit(person: User, own: int | None, general: int) -> int | None:
    """A person's own limit, else that of the board; administrators have only their own."""
    if own is not None:
        return own
    return None if person.is_staff else general


def _when_again(today: QuerySet[Submission], place: int) -> str:
    """When enough of today's submissions are a day old; `place` is that of the last of them, the oldest being 0."""
    oldest = list(today.order_by("created_at").values_list("created_at", flat=True)[: place + 1])
    if not oldest:
        return "Ask an administrator for more."
    return f"You can submit again from {oldest[-1] + DAY:%d %B, %H:%M} UTC."

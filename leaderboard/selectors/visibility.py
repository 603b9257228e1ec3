"""Who may see which run.

A run of a private submission is its submitter's and the staff's until it is published. The runs of a model whose owner
opted out are those of their submitters and the staff too.
"""

from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q

from leaderboard.models import Run, User
from leaderboard.selectors.catalogue import LISTED

PRIVATE = Q(submission__is_private=True)
"""Of runs: of a submission that its submitter keeps private."""

OF_OPTED_OUT = Q(revision__model__owner_opted_out=True)


def visible_to(user: User | AnonymousUser) -> Q:
    """Of runs: those that a person may see."""
    if user.is_authenticated and user.is_staff:
        return Q()
    public = ~PRIVATE & ~OF_OPTED_OUT
    return public | Q(submission__submitter=user.pk) if user.is_authenticated else public


def results_visible_to(user: User | AnonymousUser) -> Q:
    """Of runs: those whose results a person may see outside the pages of runs: listed ones, their own, for staff all."""
    if user.is_staff:
        return Q()
    if not user.is_authenticated:
        return LISTED
    return LISTED | Q(submission__submitter=user.pk)


def may_see_run(user: User | AnonymousUser, *, run_id: UUID) -> bool:
    """Whether there is such a run and this person may see it. One query."""
    return Run.objects.filter(visible_to(user), pk=run_id).exists()

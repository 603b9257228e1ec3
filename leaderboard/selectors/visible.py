"""Whose results a person may see outside the pages of runs."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q

from leaderboard.models import User
from leaderboard.selectors.catalogue import LISTED


def visible_runs(viewer: User | AnonymousUser) -> Q:
    """Which runs a person may see with their results: listed ones, their own, and for administrators all."""
    if viewer.is_staff:
        return Q()
    if not viewer.is_authenticated:
        return LISTED
    return LISTED | Q(submission__submitter=viewer.pk)

"""How scores are made."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.models.vocabulary import Domain, Family
from leaderboard.selectors.published import BOUNDS_APART
from leaderboard.views.questions import FAMILY_QUESTIONS


def page(request: HttpRequest) -> HttpResponse:
    """The methods page: every rule, and which choices are ours."""
    context = {
        "section": "methods",
        "families": [(family.label, FAMILY_QUESTIONS[family]) for family in Family],
        "domains": ", ".join(domain.label for domain in Domain),
        "bounds_apart": BOUNDS_APART * 100,
    }
    return render(request, "methods.html", context)

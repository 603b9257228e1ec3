"""The boards: overall, one a family, one a domain."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def overall(request: HttpRequest) -> HttpResponse:
    """The front page."""
    return render(request, "boards/board.html", {"section": "boards"})


def family(request: HttpRequest, family: str) -> HttpResponse:
    """One family."""
    return render(request, "boards/board.html", {"section": "boards"})


def domain(request: HttpRequest, domain: str) -> HttpResponse:
    """One domain."""
    return render(request, "boards/board.html", {"section": "boards"})

"""How scores are made."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def page(request: HttpRequest) -> HttpResponse:
    """The methods page."""
    return render(request, "methods.html", {"section": "methods"})

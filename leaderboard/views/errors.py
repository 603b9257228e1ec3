"""The page of a request that cannot be answered."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Say what is wrong where it was found by a rule of this site; what looks like an attack is told nothing."""
    words = str(exception) if isinstance(exception, BadRequest) else ""
    return render(request, "400.html", {"exception": words}, status=400)

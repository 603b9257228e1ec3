"""The page of one embedding model."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def detail(request: HttpRequest, repo_id: str) -> HttpResponse:
    """One embedding model."""
    return render(request, "boards/model.html", {"section": "boards"})

"""The suites' tasks."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def task_list(request: HttpRequest) -> HttpResponse:
    """Every task."""
    return render(request, "catalogue/tasks.html", {"section": "tasks"})


def task_detail(request: HttpRequest, suite: str, name: str) -> HttpResponse:
    """One task."""
    return render(request, "catalogue/task.html", {"section": "tasks"})

"""Version 1 of the API: what it consists of, and the addresses of that."""

import functools
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from ninja import NinjaAPI

from leaderboard.api import boards, embedding_models, probe_boards, queue, runs, scores, submissions, tasks
from leaderboard.api.errors import ErrorBody, add_handlers, error_response

View = Callable[..., HttpResponse]

DESCRIPTION = (
    "Results of medical embedding models, and a way to submit one. Everything that is published can be read without"
    " an account, at fewer requests a minute; a token or a session adds what is yours. Every refusal has the same form:"
    " a stable code, a sentence, and the field that it is about."
)


def build_api() -> NinjaAPI:
    """The API with all of its operations."""
    api = NinjaAPI(
        title="MedBoard",
        version="1",
        description=DESCRIPTION,
        openapi_url=None,
        docs_url=None,
        urls_namespace="api-v1",
    )
    add_handlers(api)
    # Probing boards first: the addresses of groups of retrieval tasks match theirs too.
    for part in (probe_boards, boards, embedding_models, runs, scores, tasks, queue, submissions):
        api.add_router("", part.router)
    return api


def addresses(api: NinjaAPI) -> tuple[list[URLPattern], str, str]:
    """The API's addresses; a method that one of them does not take is refused in the form of all refusals."""
    patterns, application, namespace = api.urls
    for pattern in patterns:
        pattern.callback = _refusing_methods(pattern.callback)
    return patterns, application, namespace


def _refusing_methods(view: View) -> View:
    @functools.wraps(view)
    def answered(request: HttpRequest, *args: Any, **values: Any) -> HttpResponse:
        response = view(request, *args, **values)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            return response
        message = f"This address takes {response['Allow']}, not {request.method}."
        refusal = error_response(response.status_code, ErrorBody(code="method_not_allowed", message=message))
        refusal["Allow"] = response["Allow"]
        return refusal

    return answered

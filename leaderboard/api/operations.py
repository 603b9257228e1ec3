"""How an operation is declared: who may ask, how often, what it answers, and what every read has in common."""

import functools
from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import conditional_page
from ninja import Router, Schema
from ninja.decorators import decorate_view
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from leaderboard.api.callers import EVERYBODY, PERSON
from leaderboard.api.errors import READ_ERRORS, WRITE_ERRORS, ErrorBody, Problem, error_response
from leaderboard.api.limits import READS, WRITES

Operation = Callable[..., Any]
Row = TypeVar("Row")

MAX_LIMIT = 100
MAX_OFFSET = 1_000_000
NO_NULL = r"^[^\x00]*$"

Text = Annotated[str, Field(max_length=200, pattern=NO_NULL)]
"""Text in an address. The database cannot hold a null character, so nothing matches one."""

Size = Annotated[int, Field(ge=1, le=10**15)]
"""A number of parameters in an address."""

Absent = SkipJsonSchema[None]
"""Of a parameter that may be left out; there is no way to write null in an address."""


class Place(Schema):
    """Which part of a list."""

    limit: int = Field(50, ge=1, le=MAX_LIMIT, description="How many items at most.")
    offset: int = Field(0, ge=0, le=MAX_OFFSET, description="How many items to leave out first.")


class Listing(Schema, Generic[Row]):
    """A part of a list, with the number of items in all of it."""

    items: list[Row]
    count: int
    limit: int
    offset: int


def listing(items: Any, *, count: int, place: Place) -> dict[str, Any]:
    """A part of a list as an answer."""
    return {"items": list(items), "count": count, "limit": place.limit, "offset": place.offset}


def reads(router: Router, path: str, answer: Any, *, of_a_person: bool = False) -> Callable[[Operation], Operation]:
    """Declare a GET. Its answer has an ETag, and `If-None-Match` with the same one gets 304.

    With `of_a_person` a visitor is refused, else everybody may ask, and a person sees their own besides.
    """

    def declare(view: Operation) -> Operation:
        return router.get(
            path,
            auth=list(PERSON if of_a_person else EVERYBODY),
            throttle=[READS],
            response={200: answer, 304: None, **READ_ERRORS},
            operation_id=view.__name__,
            summary=_summary(view),
            openapi_extra={} if of_a_person else {"security": [{}]},
        )(decorate_view(_only_known_parameters(view), conditional_page, _revalidated)(view))

    return declare


def writes(router: Router, path: str, answer: Any, *, status: int = 200) -> Callable[[Operation], Operation]:
    """Declare a POST for people who are signed in or send a token."""

    def declare(view: Operation) -> Operation:
        return router.post(
            path,
            auth=list(PERSON),
            throttle=[WRITES],
            response={status: answer, **WRITE_ERRORS},
            operation_id=view.__name__,
            summary=_summary(view),
        )(view)

    return declare


def _summary(view: Operation) -> str:
    return view.__name__.replace("_", " ").capitalize()


@functools.cache
def _parameters(view: Operation) -> frozenset[str]:
    """The parameters in the address that an operation reads."""
    models = view._ninja_operation.models  # type: ignore[attr-defined]  # noqa: SLF001 - where the framework keeps them
    return frozenset(
        name for model in models if model.__ninja_param_source__ == "query" for name in model.__ninja_flatten_map__
    )


def _only_known_parameters(view: Operation) -> Callable[[Operation], Operation]:
    """Refuse parameters that the operation does not have, so that a misspelt filter is no filter that matches all."""

    def decorate(run: Operation) -> Operation:
        @functools.wraps(run)
        def checked(request: HttpRequest, **values: Any) -> HttpResponse:
            known = _parameters(view)
            unknown = sorted(set(request.GET) - known)
            return _unknown(unknown, known) if unknown else run(request, **values)

        return checked

    return decorate


def _unknown(names: list[str], known: frozenset[str]) -> HttpResponse:
    has = f"It has {', '.join(sorted(known))}." if known else "It has none."
    problems = [Problem(code="unknown_parameter", message="There is no such parameter.", field=name) for name in names]
    body = ErrorBody(
        code="unknown_parameter",
        message=f"This address has no parameter {', '.join(names)}. {has}",
        field=names[0] if len(names) == 1 else None,
        problems=problems,
    )
    return error_response(HTTPStatus.UNPROCESSABLE_ENTITY, body)


def _revalidated(run: Operation) -> Operation:
    """What a person may see is theirs alone, and everything can change: caches ask before they use an answer again."""

    @functools.wraps(run)
    def answered(request: HttpRequest, **values: Any) -> HttpResponse:
        response: HttpResponse = run(request, **values)
        patch_vary_headers(response, ["Authorization", "Cookie"])
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        return response

    return answered

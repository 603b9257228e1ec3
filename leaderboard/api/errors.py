"""What a refused request gets: one shape for everything, with the stable codes of the application's errors."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, Throttled, ValidationError
from ninja.responses import Response
from pydantic import Field

from leaderboard.exceptions import ApplicationError


class Problem(Schema):
    """One of several things that are wrong with a request."""

    code: str
    message: str
    field: str | None = Field(None, description="The parameter or field of the body that it is about.")


class ErrorBody(Schema):
    """Why a request was refused. Programs go by `code`, people read `message`."""

    code: str
    message: str
    field: str | None = Field(None, description="The parameter or field of the body that it is about.")
    problems: list[Problem] = Field([], description="Everything that is wrong, where that can be several things.")


class ApiError(ApplicationError):
    """A request that the API refuses by itself, with a status and a code."""

    def __init__(self, status: HTTPStatus, *, code: str, message: str, problems: Iterable[Problem] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.problems = list(problems)


CONFLICT, UNPROCESSABLE = HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY
STATUS_OF: Mapping[str, HTTPStatus] = {
    "preflight_failed": UNPROCESSABLE,
    "suite_missing": UNPROCESSABLE,
}
"""The statuses of the application's errors; those that are not named meet something in its way: 409."""

CODE_OF: Mapping[int, str] = {
    HTTPStatus.BAD_REQUEST: "invalid_body",
    HTTPStatus.UNAUTHORIZED: "unauthenticated",
    HTTPStatus.FORBIDDEN: "forbidden",
}
"""The codes of what the framework refuses."""

LEFT_OUT = "none_required"
"""Pydantic's finding that a value which is there was not left out: never what is wrong with it."""

READ_ERRORS = dict.fromkeys((401, 403, 404, 422, 429), ErrorBody)
WRITE_ERRORS = dict.fromkeys((400, 401, 403, 404, 409, 422, 429), ErrorBody)


def add_handlers(api: NinjaAPI) -> None:
    """Have the API answer its errors in this shape."""
    api.add_exception_handler(ApplicationError, _application_error)
    api.add_exception_handler(Http404, _not_found)
    api.add_exception_handler(PermissionDenied, _forbidden)
    api.add_exception_handler(AuthenticationError, _unauthenticated)
    api.add_exception_handler(Throttled, _throttled)
    api.add_exception_handler(ValidationError, _invalid)
    api.add_exception_handler(HttpError, _refused)


def error_response(status: int, body: ErrorBody) -> HttpResponse:
    """The answer to a refused request; it is never stored by anybody."""
    response = Response(body.model_dump(), status=status)
    response["Cache-Control"] = "no-store"
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def _application_error(request: HttpRequest, error: Any) -> HttpResponse:
    problems = getattr(error, "problems", [])
    field = problems[0].field if len(problems) == 1 else None
    status = getattr(error, "status", None) or STATUS_OF.get(error.code, CONFLICT)
    return error_response(
        status, ErrorBody(code=error.code, message=error.message, field=field, problems=list(problems))
    )


def _not_found(request: HttpRequest, error: Any) -> HttpResponse:
    message = str(error) or "There is nothing at this address."
    return error_response(HTTPStatus.NOT_FOUND, ErrorBody(code="not_found", message=message))


def _forbidden(request: HttpRequest, error: Any) -> HttpResponse:
    return error_response(HTTPStatus.FORBIDDEN, ErrorBody(code="forbidden", message=str(error)))


def _unauthenticated(request: HttpRequest, error: Any) -> HttpResponse:
    message = "Sign in, or send a token: the header is 'Authorization: Bearer mb_...'."
    return error_response(HTTPStatus.UNAUTHORIZED, ErrorBody(code="unauthenticated", message=message))


def _throttled(request: HttpRequest, error: Any) -> HttpResponse:
    message = f"Too many requests. Go on in {error.wait} seconds; the header Retry-After says the same."
    return error_response(HTTPStatus.TOO_MANY_REQUESTS, ErrorBody(code="throttled", message=message))


def _invalid(request: HttpRequest, error: Any) -> HttpResponse:
    problems = [_problem(found) for found in error.errors if found["type"] != LEFT_OUT]
    message = " ".join(f"{one.field}: {one.message}." if one.field else f"{one.message}." for one in problems)
    field = problems[0].field if len(problems) == 1 else None
    return error_response(
        UNPROCESSABLE, ErrorBody(code="invalid_request", message=message, field=field, problems=problems)
    )


def _problem(found: Mapping[str, Any]) -> Problem:
    """One of pydantic's findings.

    Its place is where the value stood, what the function calls the object, if it is in one, and the names inside; in an
    address there is one name, and what follows it says which of several types was tried.
    """
    source, *place = (str(part) for part in found["loc"])
    names = place[1:] if len(place) > 1 else place
    field = ".".join(names if source == "body" else names[:1])
    return Problem(code=str(found["type"]), message=str(found["msg"]), field=field or None)


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    code = CODE_OF.get(error.status_code, "refused")
    return error_response(error.status_code, ErrorBody(code=code, message=str(error)))

"""Who asks: a person through a token, a person through their session, or anybody.

A session works from the site's own pages and is checked for forged requests where something changes. A token works from
anywhere, because nothing sends it by itself.
"""

from dataclasses import dataclass
from http import HTTPStatus

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from leaderboard.api.errors import ApiError
from leaderboard.models import ApiToken, User
from leaderboard.models.vocabulary import ApiScope
from leaderboard.services.api_tokens import api_token_use

SAFE_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks. `counted_as` names them to the limits of requests."""

    user: User | AnonymousUser
    counted_as: str
    token: ApiToken | None = None


class Token(HttpBearer):
    """A token of /account/tokens/, with the scope that the request needs: `read` or `submit`."""

    def __call__(self, request: HttpRequest) -> Caller | None:
        header = request.headers.get("Authorization", "")
        if not header:
            return None
        scheme, _, secret = header.partition(" ")
        if scheme.lower() != self.openapi_scheme:
            raise _bad_token("Send 'Authorization: Bearer' and a token; there is no other scheme.")
        return self.authenticate(request, secret.strip())

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        """The person of a token.

        Raises:
            ApiError: the token does not work, or not for this.
        """
        found = api_token_use(token)
        if found is None:
            raise _bad_token("This token does not work: it is wrong, revoked or out of date. Make another one.")
        scope = ApiScope.READ if request.method in SAFE_METHODS else ApiScope.SUBMIT
        if scope not in found.scopes:
            message = f"This token may not {scope.label.lower()}. Make one with the scope {scope.value!r}."
            raise ApiError(HTTPStatus.FORBIDDEN, code="scope_missing", message=message)
        return Caller(user=found.user, counted_as=f"token-{found.pk}", token=found)


class Session(APIKeyCookie):
    """The session of a person who is signed in on the site; POST also needs the header X-CSRFToken."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Caller | None:
        if not request.user.is_authenticated:
            return None
        if check_csrf(request):
            message = "Send the value of the cookie csrftoken as the header X-CSRFToken, or use a token."
            raise ApiError(HTTPStatus.FORBIDDEN, code="csrf_failed", message=message)
        return self.authenticate(request, None)

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller:
        """The person of the session."""
        return Caller(user=request.user, counted_as=f"user-{request.user.pk}")


def anybody(request: HttpRequest) -> Caller:
    """A visitor, known by nothing but an address."""
    return Caller(user=AnonymousUser(), counted_as=f"address-{get_adapter().get_client_ip(request)}")


PERSON = (Token(), Session())
EVERYBODY = (*PERSON, anybody)


def _bad_token(message: str) -> ApiError:
    return ApiError(HTTPStatus.UNAUTHORIZED, code="token_invalid", message=message)

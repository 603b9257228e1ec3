"""What happens to every request and answer, beyond what Django and its packages do."""

from collections.abc import Callable, Iterator

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render

API = "/api/v1/"
"""Its operations refuse such characters themselves, in the form of their refusals."""

Answer = Callable[[HttpRequest], HttpResponse]

UNUSED_FEATURES = (
    "accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen", "gamepad", "geolocation",
    "gyroscope", "hid", "idle-detection", "magnetometer", "microphone", "midi", "payment", "picture-in-picture",
    "publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking",
)  # fmt: skip
"""Those that browsers know by name: they warn of others on every page."""
POLICY = ", ".join(f"{feature}=()" for feature in UNUSED_FEATURES)


def permissions_policy(get_response: Answer) -> Answer:
    """Tell browsers that no page needs a camera, a position or any other such feature."""

    def answered(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Permissions-Policy", POLICY)
        return response

    return answered


def null_characters_refused(get_response: Answer) -> Answer:
    """Refuse requests with a null character: no text of this site has one, and the database takes none."""

    def answered(request: HttpRequest) -> HttpResponse:
        if not request.path.startswith(API) and any("\x00" in text for text in _texts(request)):
            raise BadRequest("It holds a null character, which no text here can have. Remove it and try again.")
        return get_response(request)

    return answered


def _texts(request: HttpRequest) -> Iterator[str]:
    yield request.path
    for name, value in request.COOKIES.items():
        yield from (name, value)
    for parameters in (request.GET, request.POST):
        for name, values in parameters.lists():
            yield from (name, *values)


def refused_methods_explained(get_response: Answer) -> Answer:
    """Give people a page where a view refuses the method of their request and says nothing itself."""

    def answered(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if not isinstance(response, HttpResponseNotAllowed) or response.content or not request.accepts("text/html"):
            return response
        page = render(request, "405.html", status=405)
        page["Allow"] = response["Allow"]
        return page

    return answered

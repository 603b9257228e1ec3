"""The page that frames the demo panel."""

from urllib.parse import urlsplit

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def page(request: HttpRequest) -> HttpResponse:
    """The panel in a frame; only this page may frame anything, and only the panel."""
    policy = csp_update({"frame-src": [_origin(settings.PANEL_URL)]})  # here, as the address is known with a request
    return policy(_framed)(request)


def _framed(request: HttpRequest) -> HttpResponse:
    return render(request, "demo/demo.html", {"section": "demo", "panel_url": settings.PANEL_URL})


def _origin(url: str) -> str:
    """As a content security policy names it: an address on the site itself is 'self'."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else "'self'"

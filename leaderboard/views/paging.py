"""Which page of a long list an address asks for."""

from django.http import HttpRequest

MAX_DIGITS = 6


def asked_page(request: HttpRequest) -> int:
    """The number in `page`; the first page where there is none, or nothing that is one."""
    page = request.GET.get("page", "")
    return int(page) if page.isdecimal() and page.isascii() and len(page) < MAX_DIGITS else 1

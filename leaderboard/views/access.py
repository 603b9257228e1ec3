"""Who may do what."""

import functools
from collections.abc import Callable
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

View = Callable[..., HttpResponse]


def signed_in_required(view: View) -> View:
    """Send strangers to sign in; afterwards they come back, unless the address only takes POST."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        return redirect_to_login(next=request.get_full_path() if request.method in {"GET", "HEAD"} else "")

    return guarded


def staff_required(view: View) -> View:
    """Only administrators pass; others are told that they may not, strangers are sent to sign in."""

    @functools.wraps(view)
    @signed_in_required
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_staff:
            raise PermissionDenied("Only administrators of the board may do this.")
        return view(request, *args, **kwargs)

    return guarded

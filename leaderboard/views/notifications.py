"""How a person is told of their submissions, and what became of the last messages."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.notifications import NotificationForm
from leaderboard.selectors.notifications import deliveries_of, notification_settings_of
from leaderboard.services.notifications import notification_settings_save, webhook_secret_renew
from leaderboard.views.access import signed_in_required


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in_required
def notifications_page(request: HttpRequest) -> HttpResponse:
    """Show and store how a person wants to be told."""
    stored = notification_settings_of(request.user)
    form = NotificationForm(
        request.POST if request.method == "POST" else None,
        initial={"by_email": stored.by_email, "webhook_url": stored.webhook_url},
    )
    if request.method == "POST" and form.is_valid():
        notification_settings_save(user=request.user, values=form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("notifications")
    context = {"form": form, "stored": stored, "deliveries": deliveries_of(request.user), "section": "submit"}
    return render(request, "people/notifications.html", context)


@require_POST
@signed_in_required
def new_secret(request: HttpRequest) -> HttpResponse:
    """Sign with a new secret from now on."""
    try:
        webhook_secret_renew(user=request.user)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "There is a new secret. Messages are signed with it from now on.")
    return redirect("notifications")

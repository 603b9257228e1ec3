"""A person's own account: what there is, all of it as a file, and its end."""

from allauth.core.ratelimit import consume, respond_429
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.accounts import AccountDeletionForm
from leaderboard.selectors.personal_data import personal_data
from leaderboard.services.accounts import account_delete
from leaderboard.views.access import signed_in_required


@require_safe
@never_cache
@signed_in_required
def account_page(request: HttpRequest) -> HttpResponse:
    """Where everything about an account is done."""
    context = {
        "section": "account",
        "has_password": request.user.has_usable_password(),
        "can_connect": any(provider["APPS"] for provider in settings.SOCIALACCOUNT_PROVIDERS.values()),
    }
    return render(request, "people/account.html", context)


@require_safe
@never_cache
@signed_in_required
def account_export(request: HttpRequest) -> HttpResponse:
    """Everything that is stored about a person, as a JSON file."""
    response = JsonResponse(personal_data(request.user), json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = 'attachment; filename="medboard-account.json"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in_required
def account_deletion(request: HttpRequest) -> HttpResponse:
    """Ask whether it is meant, and delete the account."""
    if request.method == "POST" and not consume(request, action="reauthenticate", user=request.user):
        return respond_429(request)
    form = AccountDeletionForm(request.POST if request.method == "POST" else None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            account_delete(user=request.user)
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            logout(request)
            messages.success(request, "Your account is deleted.")
            return redirect("board-overall")
    return render(request, "people/account_deletion.html", {"section": "account", "form": form})

"""A person's API tokens: make one, see them, revoke one."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.api_tokens import ApiTokenForm
from leaderboard.selectors.api_tokens import api_tokens_of
from leaderboard.services.api_tokens import api_token_create, api_token_revoke
from leaderboard.views.access import signed_in_required


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in_required
@sensitive_variables("new")
def tokens_page(request: HttpRequest) -> HttpResponse:
    """The tokens and the form. A new token is shown in the answer to the form, and never again."""
    form = ApiTokenForm(request.POST if request.method == "POST" else None)
    new = None
    if request.method == "POST" and form.is_valid():
        try:
            new = api_token_create(user=request.user, **form.cleaned_data)
        except ApplicationError as error:
            form.add_error(None, error.message)
        else:
            form = ApiTokenForm()
    context = {"form": form, "new": new, "tokens": api_tokens_of(request.user), "section": "account"}
    return render(request, "people/tokens.html", context)


@require_POST
@signed_in_required
def token_revoke(request: HttpRequest, token_id: int) -> HttpResponse:
    """Make a token useless."""
    token = api_token_revoke(user=request.user, token_id=token_id)
    if token is None:
        raise Http404("You have no such token.")
    messages.success(request, f"Revoked “{token.name}”. Requests with it are refused from now on.")
    return redirect("api-tokens")

"""Claiming a repository, and deciding about its models."""

from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.exceptions import ApplicationError
from leaderboard.forms.ownership import RepositoryForm
from leaderboard.models import OwnerClaim, User
from leaderboard.ports import model_hub
from leaderboard.selectors.ownership import ClaimRow, claim_of, claims_of, opted_out_models
from leaderboard.services import ownership
from leaderboard.views.access import signed_in_required, staff_required


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@signed_in_required
def owners_page(request: HttpRequest) -> HttpResponse:
    """A person's claims, and the form for another one."""
    form = RepositoryForm(
        request.POST if request.method == "POST" else None, initial={"repo_id": request.GET.get("repo_id", "")[:400]}
    )
    if request.method == "POST" and form.is_valid():
        try:
            claim = ownership.owner_claim_open(claimant=request.user, repo_id=form.cleaned_data["repo_id"])
        except ApplicationError as error:
            form.add_error("repo_id", error.message)
        else:
            return redirect("owner-claim", claim_id=claim.pk)
    context = {
        "section": "account",
        "form": form,
        "claims": claims_of(request.user),
        "opted_out": opted_out_models() if request.user.is_staff else (),
    }
    return render(request, "people/owners.html", context)


@require_safe
@never_cache
@signed_in_required
def claim_page(request: HttpRequest, claim_id: int) -> HttpResponse:
    """One claim: how to prove it, and what its owner can decide."""
    row = _found(request, claim_id)
    context = {
        "section": "account",
        "row": row,
        "claim": row.claim,
        "line": ownership.line_of(row.claim),
        "is_own": row.claim.claimant_id == request.user.pk,
        "can_use_account": bool(settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]),
    }
    return render(request, "people/claim.html", context)


@require_POST
@signed_in_required
def claim_act(request: HttpRequest, claim_id: int) -> HttpResponse:
    """Do one of the things that the page of a claim offers, which the field `act` names."""
    claim = _found(request, claim_id).claim
    act = request.POST.get("act", "")
    if act in OF_STAFF and not request.user.is_staff:
        raise PermissionDenied("Only administrators of the board may do this.")
    if act in OF_OWNERS and claim.claimant_id != request.user.pk:
        raise PermissionDenied("Only the claimant may do this.")
    if act not in ACTS:
        raise Http404("There is no such act.")
    words, do = ACTS[act]
    try:
        do(claim, request.user)
    except ApplicationError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, words)
    return redirect("owners") if act == "withdraw" else redirect("owner-claim", claim_id=claim_id)


@require_POST
@staff_required
def owner_wish(request: HttpRequest) -> HttpResponse:
    """An administrator carries out the wish of an owner who wrote to them."""
    form = RepositoryForm(request.POST)
    wish = request.POST.get("wish")
    if wish not in {"hide", "allow"}:
        raise BadRequest("A wish is to hide a model or to allow it.")
    opted_out = wish == "hide"
    if not form.is_valid():
        messages.error(request, " ".join(form.errors["repo_id"]))
        return redirect("owners")
    repo_id = form.cleaned_data["repo_id"]
    ownership.owner_wish_record(repo_id=repo_id, opted_out=opted_out, actor=request.user)
    messages.success(request, f"{repo_id} is {'hidden' if opted_out else 'shown again'}.")
    return redirect("owners")


def _found(request: HttpRequest, claim_id: int) -> ClaimRow:
    row = claim_of(request.user, claim_id=claim_id)
    if row is None:
        raise Http404("There is no such claim of yours.")
    return row


def _look(claim: OwnerClaim, _actor: User) -> None:
    ownership.owner_claim_look(claim=claim, hub=model_hub())


ACTS: dict[str, tuple[str, Callable[[OwnerClaim, User], object]]] = {
    "look": ("The line was found. The repository is yours here.", _look),
    "account": (
        "Your account on the hub has this name. The repository is yours here.",
        lambda claim, _actor: ownership.owner_claim_by_account(claim=claim),
    ),
    "accept": ("The claim is accepted.", lambda claim, actor: ownership.owner_claim_accept(claim=claim, actor=actor)),
    "show": (
        "The model's page names its owner.",
        lambda claim, _actor: ownership.owner_shown_set(claim=claim, is_shown=True),
    ),
    "unname": (
        "The model's page names no owner.",
        lambda claim, _actor: ownership.owner_shown_set(claim=claim, is_shown=False),
    ),
    "hide": (
        "Hidden. Its results are on no page any more, and no submission of it is taken.",
        lambda claim, _actor: ownership.owner_decide(claim=claim, opted_out=True),
    ),
    "allow": (
        "Allowed again. Results that were published before are shown again.",
        lambda claim, _actor: ownership.owner_decide(claim=claim, opted_out=False),
    ),
    "withdraw": ("The claim is withdrawn.", lambda claim, _actor: ownership.owner_claim_withdraw(claim=claim)),
}
"""What can be done with a claim: what is said afterwards, and the service."""
OF_STAFF = frozenset({"accept"})
OF_OWNERS = frozenset({"look", "account", "show", "hide", "allow", "withdraw"})

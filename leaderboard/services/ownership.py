"""Claims of ownership, and what owners decide about their models."""

import secrets
from datetime import timedelta

from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Lower, Now
from django.utils import timezone

from leaderboard import queue
from leaderboard.exceptions import ClaimRefused, OwnerOptedOut
from leaderboard.models import EmbeddingModel, OwnerClaim, Run, RunEvent, User
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, ActKind, OwnerProof
from leaderboard.ports import ModelHub, PreflightProblem
from leaderboard.services.acts import act_record
from leaderboard.services.runs import run_cancel

FILES = {"medboard.txt": OwnerProof.FILE, "README.md": OwnerProof.MODEL_CARD}
"""Where the line of a claim is looked for, with what finding it there proves it by."""
WITHDRAWN = "withdrawn by its owner"
SHOWN_AGAIN = "shown again at its owner's wish"
MOST_UNPROVEN = 20
TOKEN_BYTES = 24
ACCOUNT = "huggingface"
ACCOUNT_SEEN_WITHIN = timedelta(minutes=30)
"""A name on the hub can change hands, so the account must have been signed in with lately."""


def line_of(claim: OwnerClaim) -> str:
    """The line that proves a claim when it stands in the repository."""
    return f"medboard-owner: {claim.token}"


def owner_wish_check(*repo_ids: str) -> None:
    """Refuse repositories whose owner does not want them here; '' is none.

    Raises:
        OwnerOptedOut: naming the first.
    """
    wanted = Q()
    for repo_id in repo_ids:
        wanted |= Q(name=repo_id.lower())
    named = EmbeddingModel.objects.annotate(name=Lower("repo_id")).filter(wanted, owner_opted_out=True)
    if (refused := named.first()) is not None:
        raise OwnerOptedOut(
            f"The owner of {refused.repo_id} does not want it evaluated here. If it is yours, claim it and allow it again."
        )


@transaction.atomic
def owner_claim_open(*, claimant: User, repo_id: str) -> OwnerClaim:
    """The person's claim of a repository, made if new, with a token to put into it.

    Raises:
        ClaimRefused: too many of their claims are not proven yet.
    """
    User.objects.select_for_update().get(pk=claimant.pk)
    own = OwnerClaim.objects.filter(claimant=claimant)
    existing = own.annotate(name=Lower("repo_id")).filter(name=repo_id.lower()).first()
    if existing is not None:
        return existing
    if own.filter(proof="").count() >= MOST_UNPROVEN:
        raise ClaimRefused(f"{MOST_UNPROVEN} of your claims are not proven yet. Prove or withdraw some of them first.")
    return OwnerClaim.objects.create(claimant=claimant, repo_id=repo_id, token=secrets.token_urlsafe(TOKEN_BYTES))


def owner_claim_look(*, claim: OwnerClaim, hub: ModelHub) -> OwnerClaim:
    """Look for the claim's line on the main branch of the repository.

    Raises:
        ClaimRefused: it is not there, or the repository cannot be read; the message says what to do.
    """
    found = hub.find_line(repo_id=claim.repo_id, line=line_of(claim), files=tuple(FILES))
    if isinstance(found, PreflightProblem):
        raise ClaimRefused(found.message)
    if found is None:
        raise ClaimRefused(
            f"The line is in neither {' nor '.join(FILES)} on the main branch of {claim.repo_id}. Commit it there"
            " without changes, then look again."
        )
    return _prove(claim, FILES[found.file], commit=found.commit)


def owner_claim_by_account(*, claim: OwnerClaim) -> OwnerClaim:
    """Prove a claim by the claimant's account on the hub, whose name must be the namespace of the repository.

    Raises:
        ClaimRefused: there is no such account, it has another name, or it was not signed in with lately.
    """
    namespace = claim.repo_id.partition("/")[0].lower()
    accounts = SocialAccount.objects.filter(user=claim.claimant, provider=ACCOUNT)
    names = {account_name(account).lower(): account for account in accounts}
    account = names.get(namespace)
    if account is None:
        raise ClaimRefused(
            f"No account on the hub with the name {namespace} is connected with yours. Repositories of an organisation"
            " are claimed with the line."
        )
    if account.last_login < timezone.now() - ACCOUNT_SEEN_WITHIN:
        raise ClaimRefused("Sign out, sign in with your account on the hub, and claim it within half an hour.")
    return _prove(claim, OwnerProof.ACCOUNT)


@transaction.atomic
def owner_claim_accept(*, claim: OwnerClaim, actor: User) -> OwnerClaim:
    """An administrator vouches for a claim."""
    accepted = _prove(claim, OwnerProof.ADMINISTRATOR)
    act_record(
        actor=actor.get_username(),
        kind=ActKind.OWNER_CLAIM,
        subject=claim.repo_id,
        details={"claimant": claim.claimant.get_username()},
    )
    return accepted


def account_name(account: SocialAccount) -> str:
    """The name of an account on the hub as the hub gave it at the last sign-in, '' if it gave none."""
    facts = account.extra_data.get("userinfo") or account.extra_data
    name = facts.get("preferred_username", "")
    return name if isinstance(name, str) else ""


@transaction.atomic
def _prove(claim: OwnerClaim, proof: OwnerProof, *, commit: str = "") -> OwnerClaim:
    stored = OwnerClaim.objects.select_for_update().get(pk=claim.pk)
    if stored.proven_at is None:
        stored.proof, stored.commit, stored.proven_at = proof, commit, Now()
        stored.save(update_fields=["proof", "commit", "proven_at"])
        stored.refresh_from_db()
    return stored


def owner_claim_withdraw(*, claim: OwnerClaim) -> None:
    """Forget a claim. What was decided about the model stays."""
    OwnerClaim.objects.filter(pk=claim.pk).delete()


def owner_shown_set(*, claim: OwnerClaim, is_shown: bool) -> None:
    """Record whether the model's page names the claimant as its owner.

    Raises:
        ClaimRefused: the claim is not proven.
    """
    changed = OwnerClaim.objects.filter(pk=claim.pk, proven_at__isnull=False).update(is_shown=is_shown)
    if not changed:
        raise ClaimRefused("Prove first that the repository is yours.")


def owner_decide(*, claim: OwnerClaim, opted_out: bool) -> None:
    """Carry out the wish of an owner whose claim is proven.

    Raises:
        ClaimRefused: the claim is not proven.
    """
    if claim.proven_at is None:
        raise ClaimRefused("Prove first that the repository is yours.")
    owner_wish_set(repo_id=claim.repo_id, opted_out=opted_out, actor=claim.claimant.get_username())


@transaction.atomic
def owner_wish_record(*, repo_id: str, opted_out: bool, actor: User) -> EmbeddingModel:
    """An administrator carries out the wish of an owner who asked elsewhere."""
    before = EmbeddingModel.objects.filter(repo_id__iexact=repo_id, owner_opted_out=True).exists()
    model = owner_wish_set(repo_id=repo_id, opted_out=opted_out, actor=actor.get_username())
    details = {"before": before, "after": opted_out}
    act_record(actor=actor.get_username(), kind=ActKind.OPT_OUT, subject=model, details=details)
    return model


@transaction.atomic
def owner_wish_set(*, repo_id: str, opted_out: bool, actor: str) -> EmbeddingModel:
    """Take a model off the board at its owner's wish, or let it back.

    Its published results vanish from every page at once and are kept; what runs or waits is cancelled, and no submission
    of it is taken. The history of every run that vanishes or comes back says so.
    """
    model = EmbeddingModel.objects.select_for_update().filter(repo_id__iexact=repo_id).first()
    if model is None:
        model = EmbeddingModel.objects.create(repo_id=repo_id)
    if model.owner_opted_out == opted_out:
        return model
    model.owner_opted_out = opted_out
    model.save(update_fields=["owner_opted_out"])
    reason = WITHDRAWN if opted_out else SHOWN_AGAIN
    if opted_out:
        for run_id in Run.objects.filter(revision__model=model, state__in=ACTIVE_RUN_STATES).values_list(
            "pk", flat=True
        ):
            run_cancel(run_id=run_id, actor=actor, reason=reason)
    published = Run.objects.filter(revision__model=model, is_published=True)
    RunEvent.objects.bulk_create(
        RunEvent(run=run, from_state=run.state, to_state=run.state, actor=actor, reason=reason) for run in published
    )
    for suite_id in published.values_list("suite_id", flat=True).distinct():
        queue.ring_snapshot(suite_id)
    return model

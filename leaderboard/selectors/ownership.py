"""Reads claims of ownership."""

from dataclasses import dataclass

from django.db.models import Q
from django.db.models.functions import Lower

from leaderboard.models import EmbeddingModel, OwnerClaim, User


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim with where its model stands. `is_listed`: the board has a model of this name that may be shown."""

    claim: OwnerClaim
    claimant: str
    is_listed: bool
    is_opted_out: bool


def claims_of(user: User) -> list[ClaimRow]:
    """A person's claims; an administrator's list is everybody's, those to be proven first. Two queries."""
    claims = OwnerClaim.objects.select_related("claimant")
    own = list(claims.order_by("proven_at", "repo_id") if user.is_staff else claims.filter(claimant=user))
    return _rows(own)


def claim_of(user: User, *, claim_id: int) -> ClaimRow | None:
    """A claim that this person may see: their own, or any for an administrator. Two queries."""
    claims = OwnerClaim.objects.select_related("claimant")
    claim = claims.filter(Q() if user.is_staff else Q(claimant=user.pk), pk=claim_id).first()
    return _rows([claim])[0] if claim else None


def owners_shown(*, repo_id: str) -> list[str]:
    """The names of those whom a model's page names as its owners. One query."""
    shown = OwnerClaim.objects.annotate(name=Lower("repo_id")).filter(name=repo_id.lower(), is_shown=True)
    return list(shown.order_by("proven_at").values_list("claimant__username", flat=True))


def opted_out_models() -> list[str]:
    """The names of the models whose owners do not want them here. One query."""
    return list(EmbeddingModel.objects.filter(owner_opted_out=True).values_list("repo_id", flat=True))


def _rows(claims: list[OwnerClaim]) -> list[ClaimRow]:
    names = {claim.repo_id.lower() for claim in claims}
    models = EmbeddingModel.objects.annotate(name=Lower("repo_id")).filter(name__in=names)
    wishes = dict(models.values_list("name", "owner_opted_out"))
    return [
        ClaimRow(
            claim=claim,
            claimant=claim.claimant.get_username(),
            is_listed=wishes.get(claim.repo_id.lower()) is False,
            is_opted_out=wishes.get(claim.repo_id.lower(), False),
        )
        for claim in claims
    ]

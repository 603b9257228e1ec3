"""Whose a repository on the hub is."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from leaderboard.models.vocabulary import HEX_40, OwnerProof, matches, one_of


class OwnerClaim(models.Model):
    """A person's claim that a repository is theirs. It counts from when it is proven.

    `token` is what they put into the repository; `commit` is where it was found, empty for other proofs.
    """

    repo_id = models.CharField(max_length=200)
    claimant = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="owner_claims")
    token = models.CharField(max_length=64, unique=True)
    proof = models.CharField(max_length=16, choices=OwnerProof, blank=True, default="")
    commit = models.CharField(max_length=40, blank=True, default="")
    proven_at = models.DateTimeField(null=True)
    is_shown = models.BooleanField(default=False, help_text="Whether the model's page names the claimant as its owner.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["repo_id", "created_at"]
        constraints = [
            models.UniqueConstraint(Lower("repo_id"), "claimant", name="owner_claim_once"),
            one_of("proof", OwnerProof, name="owner_claim_proof_known", blank=True),
            matches("commit", HEX_40, name="owner_claim_commit_hex", blank=True),
            models.CheckConstraint(condition=~Q(repo_id="") & ~Q(token=""), name="owner_claim_names_both"),
            models.CheckConstraint(
                condition=Q(proof="", proven_at__isnull=True, commit="", is_shown=False)
                | (~Q(proof="") & Q(proven_at__isnull=False)),
                name="owner_claim_proven_has_proof",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.repo_id} claimed by {self.claimant}"

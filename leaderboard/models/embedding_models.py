"""Embedding models and their exact revisions."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower

from leaderboard.models.vocabulary import HEX_40, HEX_64, matches


class EmbeddingModel(models.Model):
    """A repository on the hub. Facts come from the hub; they are empty or null while unknown."""

    repo_id = models.CharField(max_length=200)
    family = models.CharField(max_length=32, blank=True)
    architecture = models.CharField(max_length=128, blank=True)
    licence = models.CharField(max_length=128, blank=True)
    parameters = models.BigIntegerField(null=True)
    dimension = models.PositiveIntegerField(null=True)
    gated = models.BooleanField(default=False)
    owner_opted_out = models.BooleanField(default=False, help_text="The owner does not want it listed.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["repo_id"]
        constraints = [
            models.UniqueConstraint(Lower("repo_id"), name="embedding_model_repo_id_unique"),
            models.CheckConstraint(condition=~Q(repo_id=""), name="embedding_model_repo_id_not_empty"),
            models.CheckConstraint(
                condition=Q(parameters__isnull=True) | Q(parameters__gte=0), name="embedding_model_parameters_positive"
            ),
        ]

    def __str__(self) -> str:
        return self.repo_id


class ModelRevision(models.Model):
    """One exact state of a model: commit, adapter at its commit, encode config. '' means none, or the default."""

    model = models.ForeignKey(EmbeddingModel, on_delete=models.PROTECT, related_name="revisions")
    commit = models.CharField(max_length=40)
    adapter_repo_id = models.CharField(max_length=200, blank=True, default="")
    adapter_commit = models.CharField(max_length=40, blank=True, default="")
    encode_config_sha256 = models.CharField(
        max_length=64, blank=True, default="", help_text="Empty: the family's default encode config."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["model", "-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["model", "commit", "adapter_repo_id", "adapter_commit", "encode_config_sha256"],
                name="model_revision_unique",
            ),
            matches("commit", HEX_40, name="model_revision_commit_hex"),
            matches("adapter_commit", HEX_40, name="model_revision_adapter_commit_hex", blank=True),
            matches("encode_config_sha256", HEX_64, name="model_revision_encode_config_hex", blank=True),
            models.CheckConstraint(
                condition=Q(adapter_repo_id="", adapter_commit="") | (~Q(adapter_repo_id="") & ~Q(adapter_commit="")),
                name="model_revision_adapter_both_or_neither",
            ),
        ]

    def __str__(self) -> str:
        adapter = f" + {self.adapter_repo_id}@{self.adapter_commit[:8]}" if self.adapter_repo_id else ""
        return f"{self.model.repo_id}@{self.commit[:8]}{adapter}"

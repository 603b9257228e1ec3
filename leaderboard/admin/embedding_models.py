"""Embedding models: facts come from the hub; only the owner's wish is decided here."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from leaderboard.admin.read_only import ReadOnlyAdmin
from leaderboard.models import EmbeddingModel, ModelRevision
from leaderboard.services.ownership import owner_wish_record


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ReadOnlyAdmin):
    list_display = ["repo_id", "family", "parameters", "licence", "gated", "owner_opted_out"]
    list_filter = ["family", "gated", "owner_opted_out"]
    search_fields = ["repo_id"]
    readonly_fields = ["repo_id", "family", "architecture", "licence", "parameters", "dimension", "gated", "created_at"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: EmbeddingModel, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        owner_wish_record(repo_id=obj.repo_id, opted_out=obj.owner_opted_out, actor=request.user)


@admin.register(ModelRevision)
class ModelRevisionAdmin(ReadOnlyAdmin):
    list_display = ["model", "commit", "adapter_repo_id", "created_at"]
    list_select_related = ["model"]
    search_fields = ["model__repo_id", "commit", "adapter_repo_id"]

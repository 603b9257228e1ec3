"""Models, with their revisions."""

from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from leaderboard.api.operations import Absent, Listing, Place, Size, Text, listing, reads
from leaderboard.selectors.lists import model_list, model_row, revision_rows

router = Router(tags=["Models"])


class ModelAnswer(Schema):
    """A model on the hub. Facts that are unknown are empty or null."""

    repo_id: str
    family: str = Field(description="Which family of systems loads it.")
    architecture: str
    licence: str
    parameters: int | None
    dimension: int | None = Field(description="Of its embeddings.")
    gated: bool
    n_published_runs: int


class ModelList(Listing[ModelAnswer]):
    """A part of a list of models."""


class RevisionAnswer(Schema):
    """One exact state of a model."""

    commit: str
    adapter_repo_id: str
    adapter_commit: str
    encode_config_sha256: str = Field(description="Empty for the default of the family.")
    created_at: datetime


class ModelDetail(ModelAnswer):
    """A model with its revisions, the newest first."""

    revisions: list[RevisionAnswer]


class ModelFilter(Place):
    """Which models."""

    q: Text | Absent = Field(None, description="Part of the name.")
    family: Text | Absent = None
    licence: Text | Absent = None
    max_parameters: Size | Absent = Field(None, description="Models of unknown size are left out.")

    @property
    def where(self) -> Q:
        """The filter as a condition."""
        asked = {
            "repo_id__icontains": self.q,
            "family": self.family,
            "licence": self.licence,
            "parameters__lte": self.max_parameters,
        }
        return Q(**{name: value for name, value in asked.items() if value is not None})


@reads(router, "/models", ModelList)
def list_models(request: HttpRequest, asked: Query[ModelFilter]) -> dict[str, Any]:
    """Models with a published run, and those that you submitted, by name."""
    found = model_list(request.auth.user, where=asked.where, limit=asked.limit, offset=asked.offset)
    return listing(found.items, count=found.count, place=asked)


@reads(router, "/models/{owner}/{name}", ModelDetail)
def get_model(request: HttpRequest, owner: Path[Text], name: Path[Text]) -> dict[str, Any]:
    """One model, by its name on the hub in any spelling of its case."""
    viewer, repo_id = request.auth.user, f"{owner}/{name}"
    model = model_row(viewer, repo_id=repo_id)
    if model is None:
        raise Http404(f"There is no model {repo_id} here.")
    return {**ModelAnswer.from_orm(model).model_dump(), "revisions": revision_rows(viewer, repo_id=repo_id)}

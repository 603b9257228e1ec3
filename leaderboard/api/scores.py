"""Scores, one row for each metric of each task of each run."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from leaderboard.api.operations import Absent, Listing, Place, Text, listing, reads
from leaderboard.selectors.lists import score_list

router = Router(tags=["Scores"])


class ScoreAnswer(Schema):
    """One metric of one task in one run. The interval is that of 95%, null where there is none."""

    run: UUID
    model: str
    commit: str
    adapter_repo_id: str
    suite: str
    suite_version: str
    task: str
    metric: str
    is_main: bool = Field(description="Whether boards go by this metric of the task.")
    value: float
    lower: float | None
    upper: float | None
    chance: float | None
    n_queries: int | None


class ScoreFilter(Place):
    """Which scores."""

    suite: Text | Absent = None
    task: Text | Absent = None
    model: Text | Absent = Field(None, description="The model's whole name on the hub.")
    run: UUID | Absent = None
    metric: Text | Absent = None
    is_main: bool | Absent = Field(None, description="Only the metrics that boards go by, or only the others.")

    @property
    def where(self) -> Q:
        """The filter as a condition."""
        asked = {
            "task_run__run__suite__slug": self.suite,
            "task_run__task__name": self.task,
            "task_run__run__revision__model__repo_id__iexact": self.model,
            "task_run__run": self.run,
            "metric": self.metric,
            "is_main": self.is_main,
        }
        return Q(**{name: value for name, value in asked.items() if value is not None})


@reads(router, "/scores", Listing[ScoreAnswer])
def list_scores(request: HttpRequest, asked: Query[ScoreFilter]) -> dict[str, Any]:
    """Scores of published runs and of your own."""
    found = score_list(request.auth.user, where=asked.where, limit=asked.limit, offset=asked.offset)
    return listing(found.items, count=found.count, place=asked)

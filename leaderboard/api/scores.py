"""Scores: those of a run, of a model, or on a task, so that every list has a bounded length."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from leaderboard.api.operations import Absent, Listing, Place, Text, listing, reads
from leaderboard.api.runs import visible_run
from leaderboard.selectors.catalogue import live_task
from leaderboard.selectors.lists import model_row, score_list

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


class ScoreList(Listing[ScoreAnswer]):
    """A part of a list of scores."""


class ScoreFilter(Place):
    """Which scores."""

    metric: Text | Absent = None
    is_main: bool | Absent = Field(None, description="Only the metrics that boards go by, or only the others.")

    @property
    def where(self) -> dict[str, Any]:
        """The filter as look-ups."""
        return self.model_dump(include={"metric", "is_main"}, exclude_none=True)


class ModelScoreFilter(ScoreFilter):
    """Which scores of a model."""

    suite: Text | Absent = None

    @property
    def where(self) -> dict[str, Any]:
        """The filter as look-ups."""
        asked = super().where
        return asked if self.suite is None else {**asked, "task_run__run__suite__slug": self.suite}


@reads(router, "/scores/run/{uuid:run_id}", ScoreList)
def list_scores_of_run(request: HttpRequest, run_id: UUID, asked: Query[ScoreFilter]) -> dict[str, Any]:
    """The scores of one run that is published or yours."""
    visible_run(request.auth.user, run_id)
    return _scores(request, asked, Q(task_run__run=run_id))


@reads(router, "/scores/model/{owner}/{name}", ScoreList)
def list_scores_of_model(
    request: HttpRequest, owner: Path[Text], name: Path[Text], asked: Query[ModelScoreFilter]
) -> dict[str, Any]:
    """The scores of a model in its published runs and in yours."""
    model = model_row(request.auth.user, repo_id=f"{owner}/{name}")
    if model is None:
        raise Http404(f"There is no model {owner}/{name} here.")
    return _scores(request, asked, Q(task_run__run__revision__model__repo_id=model.repo_id))


@reads(router, "/scores/task/{suite}/{path:name}", ScoreList)
def list_scores_on_task(
    request: HttpRequest, suite: Path[Text], name: Path[Text], asked: Query[ScoreFilter]
) -> dict[str, Any]:
    """The scores on one task of a live suite, in published runs and in yours."""
    task = live_task(suite=suite, name=name)
    if task is None:
        raise Http404(f"No live suite {suite} has a task {name}.")
    return _scores(request, asked, Q(task_run__task=task))


def _scores(request: HttpRequest, asked: ScoreFilter, of: Q) -> dict[str, Any]:
    where = of & Q(**asked.where)
    found = score_list(request.auth.user, where=where, limit=asked.limit, offset=asked.offset)
    return listing(found.items, count=found.count, place=asked)

"""Runs: their facts, their tasks, their means and their logs."""

from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404, HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from leaderboard.api.errors import ApiError
from leaderboard.api.operations import Absent, Listing, Place, Text, listing, reads
from leaderboard.models.vocabulary import RunState, TaskRunState
from leaderboard.selectors.child_logs import child_logs_for, may_read_logs
from leaderboard.selectors.lists import RunRow, Viewer, run_list, run_row
from leaderboard.selectors.runs import run_detail

NO_RUN = "There is no such run, or it is not published and not yours."

router = Router(tags=["Runs"])


class RunAnswer(Schema):
    """One attempt to evaluate one revision on one suite. Error fields are empty unless it failed."""

    id: UUID
    model: str
    commit: str
    adapter_repo_id: str
    adapter_commit: str
    suite: str
    suite_version: str
    attempt: int
    state: RunState
    is_published: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    published_at: datetime | None
    error_code: str
    error_message: str


class RunList(Listing[RunAnswer]):
    """A part of a list of runs."""


class RunTask(Schema):
    """One task of a run. `value` is that of the task's main metric, null until it has succeeded."""

    name: str
    state: TaskRunState
    metric: str
    value: float | None
    lower: float | None
    upper: float | None
    chance: float | None
    n_queries: int | None
    seconds: float | None
    error_code: str
    error_kind: str
    error_message: str


class RunDetailAnswer(RunAnswer):
    """A run with its tasks in the suite's order, and what is needed to make it again."""

    seed: int
    code_version: str
    model_description: dict[str, Any] = Field(description="What the worker loaded, with its encode config.")
    environment: dict[str, Any] = Field(description="Library versions, device and platform.")
    tasks: list[RunTask]


class LogAnswer(Schema):
    """The end of what one worker's evaluating process printed."""

    worker: str
    text: str
    written_at: datetime


class RunFilter(Place):
    """Which runs."""

    model: Text | Absent = Field(None, description="The model's whole name on the hub.")
    suite: Text | Absent = None
    state: RunState | Absent = None
    is_published: bool | Absent = None

    @property
    def where(self) -> Q:
        """The filter as a condition."""
        asked = {
            "revision__model__repo_id__iexact": self.model,
            "suite__slug": self.suite,
            "state": self.state,
            "is_published": self.is_published,
        }
        return Q(**{name: value for name, value in asked.items() if value is not None})


@reads(router, "/runs", RunList)
def list_runs(request: HttpRequest, asked: Query[RunFilter]) -> dict[str, Any]:
    """Published runs and your own, the newest first."""
    found = run_list(request.auth.user, where=asked.where, limit=asked.limit, offset=asked.offset)
    return listing(found.items, count=found.count, place=asked)


@reads(router, "/runs/{uuid:run_id}", RunDetailAnswer)
def get_run(request: HttpRequest, run_id: UUID) -> dict[str, Any]:
    """One run that is published or yours."""
    run = visible_run(request.auth.user, run_id)
    detail = run_detail(run_id, with_events=False)
    if detail is None:
        raise Http404(NO_RUN)
    facts = ("seed", "code_version", "model_description", "environment")
    return {
        **RunAnswer.from_orm(run).model_dump(),
        **{name: getattr(detail.facts, name) for name in facts},
        "tasks": detail.tasks,
    }


@reads(router, "/runs/{uuid:run_id}/log", list[LogAnswer], of_a_person=True)
def get_run_log(request: HttpRequest, run_id: UUID) -> list[Any]:
    """What evaluating your model printed, a part for each worker."""
    viewer = request.auth.user
    visible_run(viewer, run_id)
    if not may_read_logs(viewer, run_id=run_id):
        message = "Only who submitted the model may read the log."
        raise ApiError(HTTPStatus.FORBIDDEN, code="forbidden", message=message)
    return child_logs_for(viewer, run_id=run_id)


def visible_run(viewer: Viewer, run_id: UUID) -> RunRow:
    """A run that a person may see with its results.

    Raises:
        Http404: there is none for them.
    """
    run = run_row(viewer, run_id=run_id)
    if run is None:
        raise Http404(NO_RUN)
    return run

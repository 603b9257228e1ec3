"""The queue, as its page shows it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from leaderboard.api.operations import reads
from leaderboard.models.vocabulary import RunState
from leaderboard.selectors.queue import WAITING_SHOWN, queue_state

MAX_PAGE = 100_000

router = Router(tags=["Queue"])


class Expected(Schema):
    """When a run starts: half of the time by `median`, one time in ten before `earliest`, or after `latest`."""

    earliest: datetime
    median: datetime
    latest: datetime


class QueuedRunAnswer(Schema):
    """A run that waits, is worked on, or has ended lately. `place` and `expected` are those of a waiting one."""

    id: UUID = Field(alias="run_id")
    model: str = Field(alias="repo_id")
    commit: str
    adapter_repo_id: str
    suite_title: str
    attempt: int
    state: RunState
    n_tasks: int
    n_ended: int
    worker_class: str
    created_at: datetime
    finished_at: datetime | None
    place: int | None
    expected: Expected | None = Field(description="Null also while no worker is up that can hold the model.")


class QueueAnswer(Schema):
    """What waits, in the order in which it is taken, what is worked on, and what has ended last."""

    paused_because: str | None = Field(description="Why no submissions are taken, null where they are.")
    waiting: list[QueuedRunAnswer]
    n_waiting: int
    page: int
    n_pages: int
    active: list[QueuedRunAnswer]
    recent: list[QueuedRunAnswer]
    n_workers_up: int


@reads(router, "/queue", QueueAnswer)
def get_queue(
    request: HttpRequest,
    page: int = Query(1, ge=1, le=MAX_PAGE, description=f"Of {WAITING_SHOWN} waiting runs; the last one if beyond."),
) -> dict[str, Any]:
    """The queue."""
    state = queue_state(page)
    names = ("waiting", "n_waiting", "page", "n_pages", "active", "recent", "n_workers_up")
    paused = state.pauses.submissions.reason if state.pauses.submissions else None
    return {"paused_because": paused, **{name: getattr(state, name) for name in names}}

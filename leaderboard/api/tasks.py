"""Suites and their tasks."""

from typing import Any

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from leaderboard.api.operations import Absent, Listing, Place, Text, listing, reads
from leaderboard.models.vocabulary import Domain, EvidenceForm, Family, Level, Modality, Split, SuiteKind, TaskKind
from leaderboard.selectors.catalogue import live_suites, live_task, live_tasks, task_summaries

router = Router(tags=["Suites and tasks"])


class SuiteAnswer(Schema):
    """A live suite. `synthetic`: made of drawn phantoms, not of medical data."""

    slug: str
    version: str
    title: str
    kind: SuiteKind
    synthetic: bool
    n_tasks: int
    n_installed: int
    n_published: int = Field(description="Published runs.")


class TaskAnswer(Schema):
    """A task. The groups that its kind lacks are empty."""

    suite: str = Field(alias="suite_slug")
    name: str
    title: str
    kind: TaskKind
    family: str
    domain: str
    evidence_form: str
    split: str
    pool: str
    modality: str
    level: str
    n_queries: int | None
    chance: float | None = Field(description="What a random order scores.")
    is_installed: bool
    n_models: int = Field(description="Published results.")
    best: float | None = Field(description="The best published value of the main metric.")


class TaskList(Listing[TaskAnswer]):
    """A part of a list of tasks."""


class TaskDetail(Schema):
    """A task with its declaration, which never changes within a suite's version."""

    suite: str
    suite_version: str
    name: str
    title: str
    kind: TaskKind
    family: str
    domain: str
    evidence_form: str
    pairing_type: str
    granularity: str
    split: str
    pool: str
    modality: str
    level: str
    style: str
    subtype: str
    selection: str
    datasets: list[str]
    relevance_rule: str
    licence: str
    notes: str
    spec_sha256: str
    is_installed: bool
    unavailable_reason: str
    n_queries: int | None
    chance: float | None


class TaskFilter(Place):
    """Which tasks."""

    suite: Text | Absent = None
    kind: TaskKind | Absent = None
    family: Family | Absent = None
    domain: Domain | Absent = None
    evidence_form: EvidenceForm | Absent = None
    split: Split | Absent = None
    modality: Modality | Absent = None
    level: Level | Absent = None
    is_installed: bool | Absent = None

    @property
    def where(self) -> dict[str, Any]:
        """The filter as look-ups."""
        asked = self.model_dump(exclude={"limit", "offset", "suite"}, exclude_none=True)
        return asked if self.suite is None else {**asked, "suite__slug": self.suite}


@reads(router, "/suites", list[SuiteAnswer])
def list_suites(request: HttpRequest) -> Any:
    """The live suites."""
    return live_suites()


@reads(router, "/tasks", TaskList)
def list_tasks(request: HttpRequest, asked: Query[TaskFilter]) -> dict[str, Any]:
    """Tasks of the live suites, in the suites' order."""
    found = live_tasks().filter(**asked.where)
    part = found[asked.offset : asked.offset + asked.limit]
    return listing(task_summaries(part), count=found.count(), place=asked)


@reads(router, "/tasks/{suite}/{path:name}", TaskDetail)
def get_task(request: HttpRequest, suite: Path[Text], name: Path[Text]) -> dict[str, Any]:
    """One task of a live suite."""
    task = live_task(suite=suite, name=name)
    if task is None:
        raise Http404(f"No live suite {suite} has a task {name}.")
    facts = {field: getattr(task, field) for field in TaskDetail.model_fields if field != "suite_version"}
    return {**facts, "suite": task.suite.slug, "suite_version": task.suite.version}

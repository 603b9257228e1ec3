"""Reads one embedding model: its facts, its runs, and a published run's scores and provenance."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.db.models.functions import Lower

from leaderboard.models import AggregateScore, EmbeddingModel, ModelRevision, Run, Score, Task, TaskRun
from leaderboard.models.vocabulary import CHOICES_OF, AggregateScope, TaskKind, TaskRunState
from leaderboard.selectors.board_making import keys_of
from leaderboard.selectors.board_rows import GroupScore
from leaderboard.selectors.published import MAIN_METRIC, PublishedModel, TaskScore, published_model, task_score
from leaderboard.selectors.visibility import PRIVATE


@dataclass(frozen=True, slots=True)
class Revision:
    """One exact state of a model; without an adapter, or with its kind's default encode config, texts are empty."""

    pk: int
    title: str
    commit: str
    adapter_repo_id: str
    adapter_commit: str
    encode_config_sha256: str


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A line of a model's run history."""

    run_id: UUID
    revision: Revision
    suite_slug: str
    suite_title: str
    suite_version: str
    suite_kind: str
    suite_is_live: bool
    suite_is_synthetic: bool
    attempt: int
    state: str
    state_label: str
    is_published: bool
    created_at: datetime
    finished_at: datetime | None
    published_at: datetime | None
    error_message: str


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """A task of a run: its score, or why there is none (`state` and the error's code and message).

    `groups` names those of each axis that it belongs to. Tasks of probing suites have neither groups nor a `score` here:
    their numbers stand in the suite's statistics.
    """

    name: str
    title: str
    family: str
    domain: str
    pool: str
    groups: Mapping[AggregateScope, tuple[str, ...]]
    state: str
    score: TaskScore | None
    error_code: str
    error_message: str
    data_sha256: str


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """A published run with everything that is known of it; `groups` holds its means by scope and key."""

    model: PublishedModel
    attempt: int
    seed: int
    code_version: str
    image_digest: str
    description: Mapping[str, Any]
    environment: Mapping[str, Any]
    encode_config_sha256: str
    published_at: datetime | None
    overall: GroupScore | None
    cv: float | None
    groups: Mapping[str, Mapping[str, GroupScore]]
    tasks: tuple[TaskOutcome, ...]


def listed_model(*, repo_id: str) -> EmbeddingModel | None:
    """The model of this name in any spelling of its case. One query.

    None if its owner does not want it listed, or all that was asked about it is private.
    """
    runs = Run.objects.filter(revision__model=OuterRef("pk"))
    named = EmbeddingModel.objects.annotate(name=Lower("repo_id")).filter(name=repo_id.lower())
    return named.filter(~Exists(runs.filter(PRIVATE)) | Exists(runs.exclude(PRIVATE)), owner_opted_out=False).first()


def run_history(*, model_id: int) -> tuple[RunSummary, ...]:
    """Every run of every revision of a model, the newest first, without private ones. One query."""
    runs = (
        Run.objects.filter(revision__model=model_id)
        .exclude(PRIVATE)
        .select_related("revision__model", "suite")
        .defer("environment", "model_description")
        .order_by("-created_at")
    )
    return tuple(
        RunSummary(
            run_id=run.pk,
            revision=_revision(run.revision),
            suite_slug=run.suite.slug,
            suite_title=run.suite.title,
            suite_version=run.suite.version,
            suite_kind=run.suite.kind,
            suite_is_live=run.suite.is_live,
            suite_is_synthetic=run.suite.synthetic,
            attempt=run.attempt,
            state=run.state,
            state_label=run.get_state_display(),
            is_published=run.is_published,
            created_at=run.created_at,
            finished_at=run.finished_at,
            published_at=run.published_at,
            error_message=run.error_message,
        )
        for run in runs
    )


def _revision(revision: ModelRevision) -> Revision:
    return Revision(
        pk=revision.pk,
        title=str(revision).partition("@")[2],
        commit=revision.commit,
        adapter_repo_id=revision.adapter_repo_id,
        adapter_commit=revision.adapter_commit,
        encode_config_sha256=revision.encode_config_sha256,
    )


def published_run(*, run_id: UUID) -> PublishedRun:
    """A run with its means and its tasks in the suite's order. Four queries."""
    run = Run.objects.select_related("revision__model").get(pk=run_id)
    means = {
        (score.scope, score.key, score.metric): GroupScore(
            score.value, score.lower, score.upper, score.n_tasks, score.n_expected
        )
        for score in AggregateScore.objects.filter(run=run)
    }
    cv = means.get((AggregateScope.OVERALL.value, "", "cv"))
    return PublishedRun(
        model=published_model(run),
        attempt=run.attempt,
        seed=run.seed,
        code_version=run.code_version,
        image_digest=run.image_digest,
        description=run.model_description,
        environment=run.environment,
        encode_config_sha256=run.revision.encode_config_sha256,
        published_at=run.published_at,
        overall=means.get((AggregateScope.OVERALL.value, "", MAIN_METRIC)),
        cv=cv.value if cv else None,
        groups={scope: _group(means, scope) for scope in AggregateScope.values},
        tasks=_task_outcomes(run),
    )


def _group(means: Mapping[tuple[str, str, str], GroupScore], scope: str) -> dict[str, GroupScore]:
    return {key: mean for (of, key, metric), mean in means.items() if of == scope and metric == MAIN_METRIC}


def _groups(task: Task) -> dict[AggregateScope, tuple[str, ...]]:
    return {scope: keys_of(task, scope) for scope in CHOICES_OF} if task.kind == TaskKind.RETRIEVAL else {}


def _task_outcomes(run: Run) -> tuple[TaskOutcome, ...]:
    scores = {
        score.task_run_id: task_score(score)
        for score in Score.objects.filter(task_run__run=run, task_run__task__kind=TaskKind.RETRIEVAL, is_main=True)
        .select_related("task_run")
        .defer("task_run__outcomes", "task_run__first_ranked")
    }
    task_runs = (
        TaskRun.objects.filter(run=run)
        .select_related("task")
        .defer("outcomes", "first_ranked")
        .order_by("task__position")
    )
    return tuple(
        TaskOutcome(
            name=task_run.task.name,
            title=task_run.task.title,
            family=task_run.task.family,
            domain=task_run.task.domain,
            pool=task_run.task.pool,
            groups=_groups(task_run.task),
            state=task_run.state,
            score=scores.get(task_run.pk) if task_run.state == TaskRunState.SUCCEEDED else None,
            error_code=task_run.error_code,
            error_message=task_run.error_message,
            data_sha256=task_run.data_sha256,
        )
        for task_run in task_runs
    )

"""Lists of models, runs and scores, of what a person may see."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from leaderboard.models import EmbeddingModel, ModelRevision, Run, Score, Submission, User
from leaderboard.models.vocabulary import TaskRunState
from leaderboard.selectors.slices import Slice, cut
from leaderboard.selectors.visibility import results_visible_to

Viewer = User | AnonymousUser


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model in a list; facts that are unknown are empty or None."""

    repo_id: str
    family: str
    architecture: str
    licence: str
    parameters: int | None
    dimension: int | None
    gated: bool
    n_published_runs: int


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """An exact revision of a model; the adapter's fields and the hash are empty where there is none."""

    commit: str
    adapter_repo_id: str
    adapter_commit: str
    encode_config_sha256: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list. Error fields are empty unless it failed."""

    id: UUID
    model: str
    commit: str
    adapter_repo_id: str
    adapter_commit: str
    suite: str
    suite_version: str
    attempt: int
    state: str
    is_published: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    published_at: datetime | None
    error_code: str
    error_message: str


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One metric of one task in one run, with its 95% interval where it has one."""

    run: UUID
    model: str
    commit: str
    adapter_repo_id: str
    suite: str
    suite_version: str
    task: str
    metric: str
    is_main: bool
    value: float
    lower: float | None
    upper: float | None
    chance: float | None
    n_queries: int | None


@dataclass(frozen=True, slots=True)
class SubmissionState:
    """A submission with the state of its newest run."""

    id: UUID
    model: str
    commit: str
    suite: str
    state: str
    run: UUID
    created_at: datetime
    closed_at: datetime | None


def model_list(viewer: Viewer, *, where: Q, limit: int, offset: int) -> Slice[ModelRow]:
    """Models of which a person may see a run, by name. Two queries."""
    return cut(_models(viewer).filter(where), _model_row, limit=limit, offset=offset)


def model_row(viewer: Viewer, *, repo_id: str) -> ModelRow | None:
    """One model by its name in any spelling of its case, or None where a person may see no run of it. One query."""
    found = _models(viewer).filter(repo_id__iexact=repo_id).first()
    return None if found is None else _model_row(found)


def _models(viewer: Viewer) -> QuerySet[Any]:
    seen = Run.objects.filter(results_visible_to(viewer), revision__model=OuterRef("pk"))
    is_listed = Q(revisions__runs__is_published=True, owner_opted_out=False)
    counted = EmbeddingModel.objects.annotate(n_published=Count("revisions__runs", filter=is_listed))
    return counted.filter(Exists(seen)).order_by("repo_id")


def revision_rows(viewer: Viewer, *, repo_id: str) -> tuple[RevisionRow, ...]:
    """The revisions of a model of which a person may see a run, the newest first. One query."""
    seen = Run.objects.filter(results_visible_to(viewer), revision=OuterRef("pk"))
    found = ModelRevision.objects.filter(Exists(seen), model__repo_id__iexact=repo_id).order_by("-created_at", "-pk")
    return tuple(
        RevisionRow(one.commit, one.adapter_repo_id, one.adapter_commit, one.encode_config_sha256, one.created_at)
        for one in found
    )


def run_list(viewer: Viewer, *, where: Q, limit: int, offset: int) -> Slice[RunRow]:
    """Runs that a person may see, the newest first. Two queries."""
    found = _runs(viewer).filter(where).order_by("-created_at", "pk")
    return cut(found, _run_row, limit=limit, offset=offset)


def run_row(viewer: Viewer, *, run_id: UUID) -> RunRow | None:
    """One run, or None where there is none that this person may see. One query."""
    found = _runs(viewer).filter(pk=run_id).first()
    return None if found is None else _run_row(found)


def _runs(viewer: Viewer) -> QuerySet[Run]:
    facts = Run.objects.select_related("revision__model", "suite").defer("environment", "model_description")
    return facts.filter(results_visible_to(viewer))


def score_list(viewer: Viewer, *, where: Q, limit: int, offset: int) -> Slice[ScoreRow]:
    """Scores of runs that a person may see, in the order in which they were stored. Two queries."""
    runs = Run.objects.filter(results_visible_to(viewer)).values("pk")
    found = Score.objects.filter(where, task_run__run__in=runs, task_run__state=TaskRunState.SUCCEEDED)
    facts = (
        found.select_related("task_run__task", "task_run__run__revision__model", "task_run__run__suite")
        .defer("task_run__outcomes", "task_run__run__environment", "task_run__run__model_description")
        .order_by("task_run", "metric")
    )
    return cut(facts, _score_row, limit=limit, offset=offset)


def submission_list(submitter: User, *, limit: int, offset: int) -> Slice[SubmissionState]:
    """A person's own submissions, the newest first. Three queries."""
    found: QuerySet[Any] = (
        Submission.objects.filter(submitter=submitter)
        .select_related("revision__model", "suite")
        .prefetch_related("runs")
        .order_by("-created_at", "pk")
    )
    return cut(found, _submission_state, limit=limit, offset=offset)


def _model_row(model: Any) -> ModelRow:
    return ModelRow(
        repo_id=model.repo_id,
        family=model.family,
        architecture=model.architecture,
        licence=model.licence,
        parameters=model.parameters,
        dimension=model.dimension,
        gated=model.gated,
        n_published_runs=model.n_published,
    )


def _run_row(run: Run) -> RunRow:
    return RunRow(
        id=run.pk,
        model=run.revision.model.repo_id,
        commit=run.revision.commit,
        adapter_repo_id=run.revision.adapter_repo_id,
        adapter_commit=run.revision.adapter_commit,
        suite=run.suite.slug,
        suite_version=run.suite.version,
        attempt=run.attempt,
        state=run.state,
        is_published=run.is_published,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
        published_at=run.published_at,
        error_code=run.error_code,
        error_message=run.error_message,
    )


def _score_row(score: Score) -> ScoreRow:
    task_run = score.task_run
    run = task_run.run
    return ScoreRow(
        run=run.pk,
        model=run.revision.model.repo_id,
        commit=run.revision.commit,
        adapter_repo_id=run.revision.adapter_repo_id,
        suite=run.suite.slug,
        suite_version=run.suite.version,
        task=task_run.task.name,
        metric=score.metric,
        is_main=score.is_main,
        value=score.value,
        lower=score.lower,
        upper=score.upper,
        chance=task_run.chance,
        n_queries=task_run.n_queries,
    )


def _submission_state(submission: Submission) -> SubmissionState:
    latest = max(submission.runs.all(), key=lambda run: run.attempt)
    return SubmissionState(
        id=submission.pk,
        model=submission.revision.model.repo_id,
        commit=submission.revision.commit,
        suite=submission.suite.slug,
        state=latest.state,
        run=latest.pk,
        created_at=submission.created_at,
        closed_at=submission.closed_at,
    )

"""Stores what workers report, task by task, and closes runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction

from leaderboard.exceptions import LeaseLost
from leaderboard.models import AggregateScore, EmbeddingModel, Run, Score, TaskRun
from leaderboard.models.vocabulary import OPEN_TASK_STATES, RunState, TaskRunState
from leaderboard.services.leases import DUE, TaskClaim, lease_end, task_run_lock
from leaderboard.services.publishing import run_publish_first
from leaderboard.services.runs import NO_LEASE, run_fail, run_lock, run_move, task_run_move


@dataclass(frozen=True, slots=True)
class ScoreValue:
    """One metric of a task, in the range that the database keeps for it."""

    metric: str
    value: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """Everything that a worker reports of a finished task.

    `outcomes` are per-query ranks, or the arrays of a probing task, compressed. What only a ranking has is None, or
    empty, for other kinds of tasks.
    """

    scores: tuple[ScoreValue, ...]
    main_metric: str
    chance: float | None
    n_queries: int
    n_inputs: int
    seconds_embedding: float
    seconds_ranking: float
    peak_memory_bytes: int
    data_sha256: str
    outcomes: bytes
    hit_at_1_optimistic: float | None = None
    hit_at_1_pessimistic: float | None = None
    self_excluded: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    first_ranked: Sequence[Mapping[str, int]] = ()


NOT_COLUMNS = {"scores", "main_metric", "n_inputs"}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A mean over tasks, as stored in `AggregateScore`."""

    scope: str
    key: str
    metric: str
    value: float
    lower: float | None
    upper: float | None
    n_tasks: int
    n_expected: int


@transaction.atomic
def run_model_describe(
    *, run_id: UUID, claim: int, description: Mapping[str, Any], environment: Mapping[str, Any], code_version: str
) -> None:
    """Record what the first worker loaded, and on what. Facts of the model are filled where they were unknown.

    Raises:
        LeaseLost: the run has ended, or was taken from the queue anew since it was taken with this `claim`.
    """
    run = run_lock(run_id)
    if run.claims != claim or run.state not in {RunState.PREPARING, RunState.RUNNING}:
        raise LeaseLost(f"Run {run_id} is {run.state} and was put back since.")
    if run.model_description:
        return
    run.model_description = dict(description)
    run.environment = dict(environment)
    run.code_version = code_version
    run.save(update_fields=["model_description", "environment", "code_version"])
    model = EmbeddingModel.objects.select_for_update().get(pk=run.revision.model_id)
    model.dimension = description["dimension"]
    model.family = description["family"]
    model.architecture = model.architecture or description["architecture"]
    model.parameters = model.parameters if model.parameters is not None else description["parameters"]
    model.save(update_fields=["dimension", "family", "architecture", "parameters"])


def task_run_progress(*, claim: TaskClaim, worker: str, done: int, total: int) -> None:
    """Note how far a task is. A lost claim is ignored here: the next write that matters is refused."""
    TaskRun.objects.filter(
        pk=claim.task_run_id, state=TaskRunState.CLAIMED, lease_owner=worker, claims=claim.claim
    ).update(inputs_done=done, inputs_total=total)


@transaction.atomic
def task_run_succeed(*, claim: TaskClaim, worker: str, outcome: TaskOutcome) -> None:
    """Store a task's result and scores. What the run lost before is forgiven: only losses without progress count.

    Raises:
        LeaseLost: the worker's claim was taken back.
    """
    Run.objects.filter(task_runs=claim.task_run_id, lost_leases__gt=0).update(lost_leases=0)
    task_run = task_run_lock(claim, worker=worker)
    stored = {name: getattr(outcome, name) for name in TaskOutcome.__slots__ if name not in NOT_COLUMNS}
    stored["first_ranked"] = [dict(found) for found in outcome.first_ranked]
    task_run_move(
        task_run, TaskRunState.SUCCEEDED, inputs_done=outcome.n_inputs, inputs_total=outcome.n_inputs, **stored
    )
    Score.objects.bulk_create(
        Score(
            task_run=task_run,
            metric=score.metric,
            value=score.value,
            lower=score.lower,
            upper=score.upper,
            is_main=score.metric == outcome.main_metric,
        )
        for score in outcome.scores
    )


@transaction.atomic
def run_scoring_claim(*, worker: str) -> Run | None:
    """Take a run whose tasks are all done, for the closing sums; `running` -> `scoring`. None when there is none."""
    run = (
        Run.objects.select_for_update(skip_locked=True, of=("self",))
        .filter(DUE, state=RunState.RUNNING)
        .exclude(pk__in=TaskRun.objects.filter(state__in=OPEN_TASK_STATES).values("run"))
        .order_by("priority", "created_at")
        .first()
    )
    if run is None:
        return None
    if not run.task_runs.filter(state=TaskRunState.SUCCEEDED).exists():
        _fail_without_results(run, worker)
        return run
    run_move(run, RunState.SCORING, actor=worker, lease_owner=worker, lease_expires_at=lease_end())
    run.refresh_from_db()
    return run


def _fail_without_results(run: Run, worker: str) -> None:
    first = run.task_runs.filter(state=TaskRunState.FAILED).order_by("task__position").first()
    count = run.task_runs.count()
    if first is None:
        code, kind, message = "no_tasks", "data", "No task of this suite is installed, so there was nothing to run."
    else:
        code, kind = first.error_code, first.error_kind
        message = f"None of the {count} tasks could be evaluated. The first one said: {first.error_message}"
    run_fail(run_id=run.pk, actor=worker, code=code, kind=kind, message=message)


@transaction.atomic
def run_succeed(*, run_id: UUID, worker: str, aggregates: Sequence[Aggregate]) -> Run:
    """Store the means and close the run. The first success of a revision on a suite is published.

    Raises:
        LeaseLost: another worker closes this run, or it was cancelled.
    """
    run = run_lock(run_id)
    if run.state != RunState.SCORING or run.lease_owner != worker:
        raise LeaseLost(f"Run {run_id} is {run.state} and not closed by {worker} any more.")
    AggregateScore.objects.filter(run=run).delete()
    AggregateScore.objects.bulk_create(
        AggregateScore(run=run, **{name: getattr(aggregate, name) for name in Aggregate.__slots__})
        for aggregate in aggregates
    )
    run_move(run, RunState.SUCCEEDED, actor=worker, **NO_LEASE)
    run_publish_first(run, actor=worker)
    return run

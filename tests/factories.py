"""Rows for tests: each function makes one valid object, with what it needs, in the real database."""

import itertools
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.utils import timezone

from evaluation.evaluators.retrieval import metrics_with_intervals
from evaluation.metrics.ranking import chance_level, hit_at_1_bounds
from evaluation.types import RankOutcomes, SuiteSpec
from leaderboard.models import (
    AggregateScore,
    EmbeddingModel,
    ModelRevision,
    Run,
    RunEvent,
    Score,
    Submission,
    Suite,
    Task,
    TaskRun,
    User,
)
from leaderboard.models.vocabulary import Domain, Family, RunState, TaskRunState, TrainingVerdict
from leaderboard.services.results import Aggregate
from leaderboard.services.training_data import training_data_mark
from workers.ingest import aggregates_of_run

TASK_AXES = ("family", "domain", "evidence_form", "pairing_type", "granularity", "split", "pool", "parser")

_numbers = itertools.count(1)


def mark_training_data(
    model_id: int, dataset: str, verdict: TrainingVerdict = TrainingVerdict.TRAINED, reason: str = "its paper"
) -> int:
    """An administrator's finding about what a model was trained on; returns its number."""
    actor = make_user(is_staff=True)
    return training_data_mark(model_id=model_id, dataset=dataset, verdict=verdict, reason=reason, actor=actor).pk


def declare_training_data(run: Run, *names: str, statement: str = "listed") -> None:
    """The submission of a run, which declared these data sets."""
    run.submission = Submission.objects.create(
        revision=run.revision, suite=run.suite, submitter=make_user(), training_data=statement,
        declared_training_data=list(names), closed_at=run.published_at,
    )  # fmt: skip
    run.save()


def make_user(username: str = "", *, is_staff: bool = False, password: str = "a-long-passphrase") -> User:
    user = User(username=username or f"person{next(_numbers)}", is_staff=is_staff, is_superuser=is_staff)
    user.set_password(password)
    user.save()
    return user


def make_task(suite: Suite, *, position: int = 0, **facts: Any) -> Task:
    defaults = {
        "name": f"task{position}",
        "title": f"Task number {position}",
        "family": Family.IMAGE_TO_LABEL,
        "domain": Domain.THORACIC,
        "evidence_form": "image_2d",
        "pairing_type": "image_text",
        "granularity": "global_label",
        "split": "in_distribution",
        "pool": "local",
        "parser": "image_cls",
        "group": "MED_2D_CLS",
        "datasets": ["made_up"],
        "data_group": f"group{position // 2}",
        "relevance_rule": "the label of the query image",
        "licence": "CC0",
        "images_may_be_shown": True,
        "spec_sha256": f"{position:064x}",
        "is_installed": True,
        "n_queries": 4,
        "chance": 0.25,
    }
    return Task.objects.create(suite=suite, position=position, **{**defaults, **facts})


def make_cell(suite: Suite, *, position: int = 0, **facts: Any) -> Task:
    """A task of a probing suite: the cell of a modality and level, unless `facts` say otherwise."""
    defaults = {
        "name": f"cell{position}",
        "title": f"Cell number {position}",
        "kind": "cell",
        "modality": "chest_radiograph",
        "level": "L1",
        "style": "template",
        "selection": "all",
        "datasets": ["made_up"],
        "data_group": "chest_radiograph",
        "licence": "CC0",
        "images_may_be_shown": True,
        "spec_sha256": f"{position:064x}",
        "is_installed": True,
        "n_queries": 4,
    }
    return Task.objects.create(suite=suite, position=position, **{**defaults, **facts})


def make_suite(slug: str = "medheb-test", *, n_tasks: int = 4, synthetic: bool = False) -> Suite:
    """A suite whose tasks go round the families and domains."""
    suite = Suite.objects.create(slug=slug, version="1", title="A suite for tests", synthetic=synthetic)
    for position in range(n_tasks):
        make_task(
            suite,
            position=position,
            family=Family.values[position % len(Family)],
            domain=Domain.values[position % len(Domain)],
        )
    return suite


def make_revision(repo_id: str = "", **facts: Any) -> ModelRevision:
    number = next(_numbers)
    defaults = {
        "family": "clip",
        "architecture": "CLIPModel",
        "licence": "mit",
        "parameters": 150_000_000,
        "dimension": 512,
    }
    model = EmbeddingModel.objects.create(repo_id=repo_id or f"lab/model-{number}", **{**defaults, **facts})
    return ModelRevision.objects.create(model=model, commit=f"{number:040x}")


def make_run(
    *,
    revision: ModelRevision | None = None,
    suite: Suite | None = None,
    user: User | None = None,
    state: RunState = RunState.QUEUED,
    attempt: int = 1,
) -> Run:
    """A run with pending task runs in the given state; fields that the state needs are filled."""
    revision = revision or make_revision()
    suite = suite or make_suite()
    error = (
        {"error_code": "model_invalid", "error_kind": "model", "error_message": "A file is missing."}
        if state == RunState.FAILED
        else {}
    )
    final = state in {RunState.SUCCEEDED, RunState.FAILED, RunState.CANCELLED}
    run = Run.objects.create(
        revision=revision,
        suite=suite,
        attempt=attempt,
        requested_by=user or make_user(),
        state=state,
        finished_at=timezone.now() if final else None,
        **error,
    )
    TaskRun.objects.bulk_create([TaskRun(run=run, task=task) for task in suite.tasks.all()])
    RunEvent.objects.create(run=run, to_state=state, actor="test")
    return run


def make_published_run(
    *, revision: ModelRevision | None = None, suite: Suite, hit: float = 0.5, user: User | None = None
) -> Run:
    """A succeeded, published run whose tasks all score `hit`, with intervals and means by family and domain."""
    run = make_run(revision=revision, suite=suite, state=RunState.SUCCEEDED, user=user)
    run.is_published, run.published_at = True, timezone.now()
    run.save()
    for task_run in run.task_runs.select_related("task"):
        task_run.state = TaskRunState.SUCCEEDED
        task_run.finished_at = timezone.now()
        task_run.outcomes = zlib.compress(np.zeros((4, 4), "<i4").tobytes())
        task_run.n_queries, task_run.chance = 4, 0.25
        task_run.hit_at_1_optimistic = task_run.hit_at_1_pessimistic = hit
        task_run.seconds_embedding, task_run.seconds_ranking, task_run.peak_memory_bytes = 1.0, 0.1, 10**9
        task_run.self_excluded = 0
        task_run.save()
        Score.objects.create(
            task_run=task_run,
            metric="hit@1",
            value=hit,
            lower=max(0.0, hit - 0.1),
            upper=min(1.0, hit + 0.1),
            is_main=True,
        )
    _make_aggregates(run, hit)
    return run


def make_scored_run(
    *,
    suite: Suite,
    hits: Mapping[str, float],
    failures: Mapping[str, str] | None = None,
    revision: ModelRevision | None = None,
    half_width: float = 0.02,
) -> Run:
    """A published run with a score a task by name, and tasks that failed with an error code.

    Means are taken over the tasks with a score, `n_expected` over all tasks of the suite.
    """
    run = make_run(revision=revision, suite=suite, state=RunState.SUCCEEDED)
    run.is_published, run.published_at = True, timezone.now()
    run.save()
    failures = failures or {}
    for task_run in run.task_runs.select_related("task"):
        name = task_run.task.name
        task_run.finished_at = timezone.now()
        if name in failures:
            task_run.state = TaskRunState.FAILED
            task_run.error_code, task_run.error_kind = failures[name], "model"
            task_run.error_message = f"{name} cannot be evaluated with this model."
        elif name in hits:
            task_run.state = TaskRunState.SUCCEEDED
            task_run.outcomes = zlib.compress(np.zeros((4, 4), "<i4").tobytes())
            task_run.n_queries, task_run.chance = task_run.task.n_queries, task_run.task.chance
            task_run.hit_at_1_optimistic = task_run.hit_at_1_pessimistic = hits[name]
            task_run.data_sha256 = f"{zlib.crc32(name.encode()):064x}"
            task_run.self_excluded = 0
        else:
            task_run.state = TaskRunState.CANCELLED
        task_run.save()
        if name in hits:
            _make_main_score(task_run, hits[name], half_width=half_width)
    _make_scored_aggregates(run, hits, half_width=half_width)
    return run


def _make_main_score(task_run: TaskRun, hit: float, *, half_width: float) -> None:
    interval = {"lower": max(0.0, hit - half_width), "upper": min(1.0, hit + half_width)}
    Score.objects.create(task_run=task_run, metric="hit@1", value=hit, is_main=True, **interval)


def _make_scored_aggregates(run: Run, hits: Mapping[str, float], *, half_width: float) -> None:
    tasks = list(run.suite.tasks.all())
    family_means = []
    for scope in ("family", "domain"):
        for key in sorted({getattr(task, scope) for task in tasks}):
            members = [task.name for task in tasks if getattr(task, scope) == key]
            values = [hits[name] for name in members if name in hits]
            if not values:
                continue
            mean = sum(values) / len(values)
            if scope == "family":
                family_means.append(mean)
            _make_aggregate(
                run, scope, key, mean=mean, n_tasks=len(values), n_expected=len(members), half_width=half_width
            )
    if family_means:
        mean = sum(family_means) / len(family_means)
        _make_aggregate(
            run, "overall", "", mean=mean, n_tasks=len(hits), n_expected=len(tasks), half_width=half_width / 2
        )
        AggregateScore.objects.create(
            run=run,
            scope="overall",
            metric="cv",
            value=float(np.std(family_means) / mean),
            n_tasks=len(hits),
            n_expected=len(tasks),
        )


def _make_aggregate(
    run: Run, scope: str, key: str, *, mean: float, n_tasks: int, n_expected: int, half_width: float
) -> None:
    AggregateScore.objects.create(
        run=run,
        scope=scope,
        key=key,
        metric="hit@1",
        value=mean,
        lower=max(0.0, mean - half_width),
        upper=min(1.0, mean + half_width),
        n_tasks=n_tasks,
        n_expected=n_expected,
    )


def _make_aggregates(run: Run, hit: float) -> None:
    interval = {"lower": max(0.0, hit - 0.05), "upper": min(1.0, hit + 0.05)}
    tasks = list(run.suite.tasks.all())
    groups = {("overall", ""): len(tasks)}
    for task in tasks:
        for scope in ("family", "domain", "evidence_form", "split"):
            key = (scope, getattr(task, scope))
            groups[key] = groups.get(key, 0) + 1
    AggregateScore.objects.bulk_create(
        AggregateScore(
            run=run, scope=scope, key=key, metric="hit@1", value=hit, n_tasks=count, n_expected=count, **interval
        )
        for (scope, key), count in groups.items()
    )
    AggregateScore.objects.create(
        run=run, scope="overall", key="", metric="cv", value=0.4, n_tasks=len(tasks), n_expected=len(tasks)
    )


def make_suite_of(spec: SuiteSpec, *, n_queries: int, chance: float) -> Suite:
    """The suite of a declaration, with all of its tasks installed."""
    suite = Suite.objects.create(slug=spec.slug, version=spec.version, title=spec.title, synthetic=spec.synthetic)
    for position, task in enumerate(spec.tasks):
        facts = {name: getattr(task, name).value for name in TASK_AXES}
        make_task(
            suite, position=position, name=task.name, title=task.title, n_queries=n_queries, chance=chance, **facts
        )
    return suite


def make_measured_run(
    suite: Suite,
    outcomes: Mapping[str, RankOutcomes],
    *,
    revision: ModelRevision | None = None,
    data: str = "d" * 64,
    attempt: int = 1,
    published: bool = True,
) -> Run:
    """A run with everything that a worker stores, from the outcomes of its tasks; the suite is on disk."""
    run = make_run(revision=revision, suite=suite, state=RunState.SUCCEEDED, attempt=attempt)
    run.is_published, run.published_at = published, timezone.now() if published else None
    run.save()
    for task_run in run.task_runs.select_related("task"):
        task_run.finished_at = timezone.now()
        ranks = outcomes.get(task_run.task.name)
        if ranks is None:
            task_run.state = TaskRunState.CANCELLED
            task_run.save()
            continue
        arrays = (np.arange(len(ranks)), ranks.above, ranks.tied, ranks.relevant, ranks.pool)
        task_run.state = TaskRunState.SUCCEEDED
        task_run.outcomes = zlib.compress(np.stack(arrays).astype("<i4").tobytes())
        task_run.n_queries, task_run.chance = len(ranks), chance_level(ranks)
        task_run.hit_at_1_optimistic, task_run.hit_at_1_pessimistic = hit_at_1_bounds(ranks)
        task_run.data_sha256, task_run.self_excluded = data, 0
        task_run.save()
        metrics = metrics_with_intervals(ranks, stratum=task_run.task.name)
        Score.objects.bulk_create(
            Score(
                task_run=task_run,
                metric=metric.name,
                value=metric.value,
                lower=metric.lower,
                upper=metric.upper,
                is_main=metric.name == "hit@1",
            )
            for metric in metrics
        )
    AggregateScore.objects.bulk_create(
        AggregateScore(run=run, **{name: getattr(mean, name) for name in Aggregate.__slots__})
        for mean in aggregates_of_run(run)
    )
    return run

"""What a published run is called and how a task went in it: values that boards, model and task pages share."""

from dataclasses import dataclass
from uuid import UUID

from django.db.models import QuerySet

from leaderboard.models import Run, Score
from leaderboard.selectors.catalogue import LISTED, LISTED_SCORE

MAIN_METRIC = "hit@1"
BOUNDS_APART = 0.005
"""A task whose best and worst order of equal scores differ by more than this is marked."""


@dataclass(frozen=True, slots=True)
class PublishedModel:
    """The model behind a published run. Unknown facts are empty or None."""

    run_id: UUID
    revision_id: int
    repo_id: str
    commit: str
    adapter_repo_id: str
    adapter_commit: str
    kind: str
    parameters: int | None
    dimension: int | None
    licence: str
    gated: bool

    @property
    def owner(self) -> str:
        """The part of the repository's name before the slash."""
        return self.repo_id.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The part of the repository's name after the slash."""
        return self.repo_id.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class TaskScore:
    """Hit@1 of one model on one task, all in [0, 1]; the interval is the task's own, the bounds those of ties."""

    value: float
    lower: float | None
    upper: float | None
    chance: float
    optimistic: float | None
    pessimistic: float | None
    n_queries: int

    @property
    def adjusted(self) -> float:
        """(hit - chance) / (1 - chance): 0 is chance, 1 is perfect, below 0 is worse than chance."""
        return 0.0 if self.chance == 1 else (self.value - self.chance) / (1 - self.chance)

    @property
    def points_from_ties(self) -> float | None:
        """What a rule that gives every tie to the relevant candidate, as the release's does, would add."""
        return None if self.optimistic is None else self.optimistic - self.value

    @property
    def depends_on_ties(self) -> bool:
        """Whether equal scores leave more than half a point open."""
        if self.optimistic is None or self.pessimistic is None:
            return False
        return self.optimistic - self.pessimistic > BOUNDS_APART


@dataclass(frozen=True, slots=True)
class RunOnTask:
    """A published run's result on one task."""

    model: PublishedModel
    score: TaskScore


def published_model(run: Run) -> PublishedModel:
    """The values of a run loaded with its revision and model."""
    revision, model = run.revision, run.revision.model
    return PublishedModel(
        run_id=run.pk,
        revision_id=revision.pk,
        repo_id=model.repo_id,
        commit=revision.commit,
        adapter_repo_id=revision.adapter_repo_id,
        adapter_commit=revision.adapter_commit,
        kind=model.family,
        parameters=model.parameters,
        dimension=model.dimension,
        licence=model.licence,
        gated=model.gated,
    )


def task_score(score: Score) -> TaskScore:
    """The values of a main score loaded with its task run."""
    task_run = score.task_run
    return TaskScore(
        value=score.value,
        lower=score.lower,
        upper=score.upper,
        chance=task_run.chance,
        optimistic=task_run.hit_at_1_optimistic,
        pessimistic=task_run.hit_at_1_pessimistic,
        n_queries=task_run.n_queries,
    )


def published_models(*, suite_id: int) -> tuple[PublishedModel, ...]:
    """The models of all published runs of a suite, by name. One query."""
    runs = (
        Run.objects.filter(LISTED, suite=suite_id)
        .select_related("revision__model")
        .defer("environment", "model_description")
        .order_by("revision__model__repo_id", "revision_id")
    )
    return tuple(published_model(run) for run in runs)


@dataclass(frozen=True, slots=True)
class MainScore:
    """A published run's value of a task's main metric, in the range of the metric."""

    model: PublishedModel
    metric: str
    value: float
    lower: float | None
    upper: float | None
    n_queries: int


def main_scores(*, task_id: int) -> tuple[MainScore, ...]:
    """Every published value of a task's main metric, the best first. One query."""
    return tuple(
        MainScore(
            model=published_model(score.task_run.run),
            metric=score.metric,
            value=score.value,
            lower=score.lower,
            upper=score.upper,
            n_queries=score.task_run.n_queries,
        )
        for score in _main_scores(task_id)
    )


def results_on_task(*, task_id: int) -> tuple[RunOnTask, ...]:
    """Every published result on a task, the best first. One query."""
    return tuple(
        RunOnTask(model=published_model(score.task_run.run), score=task_score(score)) for score in _main_scores(task_id)
    )


def _main_scores(task_id: int) -> QuerySet[Score]:
    return (
        Score.objects.filter(LISTED_SCORE, task_run__task=task_id)
        .select_related("task_run__run__revision__model")
        .defer(
            "task_run__outcomes",
            "task_run__first_ranked",
            "task_run__run__environment",
            "task_run__run__model_description",
        )
        .order_by("-value", "task_run__run__revision__model__repo_id", "task_run__run__revision")
    )

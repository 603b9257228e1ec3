"""What a rerun would do and cost, before anybody confirms it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import TextChoices

from leaderboard.models import Run, Suite, Task, TaskRun
from leaderboard.models.vocabulary import ACTIVE_RUN_STATES, TaskRunState
from leaderboard.selectors.timings import NOTHING, SECONDS, Expectation, preparation_expectation, task_expectations


class RerunScope(TextChoices):
    """Which tasks of a run are done again; the results of the others are carried over."""

    ALL = "all", "All tasks"
    FAILED = "failed", "Tasks without a result"
    TASKS = "tasks", "Chosen tasks, and those without a result"


@dataclass(frozen=True, slots=True)
class Carried:
    """A result that a new attempt takes over: the old task run, and the task that it stands for in the suite."""

    task_run: TaskRun
    task: Task


@dataclass(frozen=True, slots=True)
class PlannedRerun:
    """A new attempt after `source`. `replaces` are attempts under way that it cancels."""

    source: Run
    tasks: tuple[Task, ...]
    n_carried: int
    replaces: tuple[Run, ...]
    expected: Expectation
    n_unknown: int

    @property
    def n_tasks(self) -> int:
        """How many tasks are done again."""
        return len(self.tasks)


@dataclass(frozen=True, slots=True)
class NotRerun:
    """A run of which there is nothing to do again."""

    source: Run
    reason: str


@dataclass(frozen=True, slots=True)
class RerunPlan:
    """Everything that would be queued. `expected` is one worker's time for all of it, without what is unknown."""

    reruns: tuple[PlannedRerun, ...]
    left_out: tuple[NotRerun, ...]

    @property
    def n_tasks(self) -> int:
        """Task runs that would be done."""
        return sum(planned.n_tasks for planned in self.reruns)

    @property
    def n_models(self) -> int:
        """Distinct embedding models."""
        return len({planned.source.revision.model_id for planned in self.reruns})

    @property
    def n_replaced(self) -> int:
        """Attempts under way that would be cancelled."""
        return sum(len(planned.replaces) for planned in self.reruns)

    @property
    def n_unknown(self) -> int:
        """Task runs of which no past time is known."""
        return sum(planned.n_unknown for planned in self.reruns)

    @property
    def expected(self) -> Expectation:
        """One worker's time."""
        return sum((planned.expected for planned in self.reruns), NOTHING)


def carried_results(
    old: Run, suite_tasks: Iterable[Task], *, scope: RerunScope, tasks: Collection[str] = ()
) -> list[Carried]:
    """The results that a new attempt takes over from an old run.

    `suite_tasks` are all tasks of the new attempt's suite, which may be of another version than the old run's: a result
    stands for a task only where the declaration is the same to the letter.
    """
    if scope == RerunScope.ALL:
        return []
    again = set(tasks) if scope == RerunScope.TASKS else set()
    own = {(task.name, task.spec_sha256): task for task in suite_tasks if task.name not in again}
    done = old.task_runs.filter(state=TaskRunState.SUCCEEDED).select_related("task").defer("outcomes", "first_ranked")
    found = [(task_run, own.get((task_run.task.name, task_run.task.spec_sha256))) for task_run in done]
    return [Carried(task_run, task) for task_run, task in found if task is not None]


def published_sources(suite: Suite) -> list[Run]:
    """The published run of every revision on a suite: on this version where there is one, else on the latest before."""
    found: dict[int, Run] = {}
    published = (
        Run.objects.filter(suite__slug=suite.slug, is_published=True)
        .select_related("revision__model", "suite")
        .order_by("published_at")
    )
    for run in sorted(published, key=lambda run: run.suite_id == suite.pk):
        found[run.revision_id] = run
    return sorted(found.values(), key=lambda run: run.revision.model.repo_id.lower())


def rerun_plan(
    sources: Sequence[Run], *, suite: Suite | None = None, scope: RerunScope, tasks: Collection[str] = ()
) -> RerunPlan:
    """What rerunning some runs would do. Without a suite each is rerun on its own; runs come with revision and suite."""
    suites = {run.suite_id: run.suite for run in sources} if suite is None else {suite.pk: suite}
    of_suite = {pk: tuple(one.tasks.defer("example_probes", "data_facts")) for pk, one in suites.items()}
    past = task_expectations({task.spec_sha256 for own in of_suite.values() for task in own})
    preparation = preparation_expectation()
    active = _active({run.revision_id for run in sources}, set(suites))
    reruns, left_out = [], []
    for run in sources:
        target = suite or run.suite
        carried = carried_results(run, of_suite[target.pk], scope=scope, tasks=tasks)
        kept = {one.task.pk for one in carried}
        todo = tuple(task for task in of_suite[target.pk] if task.is_installed and task.pk not in kept)
        if not todo:
            left_out.append(NotRerun(run, "Every task has a result; there is nothing to run again."))
            continue
        expected, n_unknown = _expected(run, todo, past)
        replaces = tuple(active.get((run.revision_id, target.pk), ()))
        reruns.append(PlannedRerun(run, todo, len(carried), replaces, preparation + expected, n_unknown))
    return RerunPlan(tuple(reruns), tuple(left_out))


def _active(revisions: Collection[int], suites: Collection[int]) -> dict[tuple[int, int], list[Run]]:
    found: dict[tuple[int, int], list[Run]] = {}
    for run in Run.objects.filter(revision__in=revisions, suite__in=suites, state__in=ACTIVE_RUN_STATES):
        found.setdefault((run.revision_id, run.suite_id), []).append(run)
    return found


def _expected(run: Run, tasks: Sequence[Task], past: dict[str, Expectation]) -> tuple[Expectation, int]:
    """The time for tasks, each as this very model took it where that is known, and how many have no known time."""
    timed = run.task_runs.filter(seconds_embedding__isnull=False, seconds_ranking__isnull=False)
    own = dict(timed.annotate(seconds=SECONDS).values_list("task__spec_sha256", "seconds"))
    total, n_unknown = NOTHING, 0
    for task in tasks:
        if task.spec_sha256 in own:
            seconds = own[task.spec_sha256]
            total += Expectation(seconds, seconds, seconds)
        elif task.spec_sha256 in past:
            total += past[task.spec_sha256]
        else:
            n_unknown += 1
    return total, n_unknown


def sources_of(run_ids: Collection[UUID]) -> list[Run]:
    """Runs by id, those that exist, in a steady order."""
    return list(
        Run.objects.filter(pk__in=run_ids).select_related("revision__model", "suite").order_by("created_at", "pk")
    )

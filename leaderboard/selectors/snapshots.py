"""Reads the statistics of boards."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from leaderboard.models import BoardSnapshot, Run, Task
from leaderboard.selectors.catalogue import LISTED

TASK_SCOPE = "task"
BUCKET_SCOPE = "bucket"
OVERALL_KEY = "overall"
CACHED_SNAPSHOTS = 8


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands in a group; shares in [0, 1]. Ranks and tie group are None for one that lacks tasks.

    `tie_group` is the rank of the best model that it cannot be told apart from.
    """

    run_id: str
    value: float
    lower: float
    upper: float
    n_tasks: int
    n_expected: int
    rank: int | None
    rank_lower: int | None
    rank_upper: int | None
    tie_group: int | None


@dataclass(frozen=True, slots=True)
class Analysis:
    """One number on a complete run, with its interval where it has one."""

    value: float
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Bucket:
    """A difficulty bucket, its tasks, and the standard deviation of its `n_models` complete models."""

    key: str
    tasks: tuple[str, ...]
    n_models: int
    value: float | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class BoardContent:
    """A snapshot's document: standings by scope and key and by run, analyses by name and by run."""

    resamples: int
    baselines: tuple[str, ...]
    groups: Mapping[tuple[str, str], Mapping[str, Standing]]
    analyses: Mapping[str, Mapping[str, Analysis]]
    buckets: tuple[Bucket, ...]

    def standing(self, scope: str, key: str, run_id: UUID) -> Standing | None:
        """Where a run stands in a group; the overall scope has an empty key."""
        return self.groups.get((scope, key or OVERALL_KEY), {}).get(str(run_id))

    def analysis(self, name: str, run_id: UUID) -> Analysis | None:
        """One number on a run, if it has every task."""
        return self.analyses.get(name, {}).get(str(run_id))

    def bucket_of(self, task: str) -> str:
        """The difficulty bucket of a task; empty where baselines lack a score for it."""
        return next((bucket.key for bucket in self.buckets if task in bucket.tasks), "")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The current statistics of a suite, without what they say.

    `is_fresh`: they cover exactly the runs that are published and the tasks installed. `left_out`: by run, the tasks in
    which it was measured on other data than most.
    """

    pk: int
    built_at: datetime
    is_fresh: bool
    left_out: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class SuiteStatistics(Snapshot):
    """The statistics of a retrieval suite."""

    content: BoardContent


@dataclass(frozen=True, slots=True)
class PairDifference:
    """Hit@1 of one run minus that of another, both with every task of the group."""

    scope: str
    key: str
    value: float
    lower: float
    upper: float

    @property
    def is_separated(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.lower > 0 or self.upper < 0

    @property
    def reversed(self) -> "PairDifference":
        """The same difference seen from the other run."""
        return PairDifference(self.scope, self.key, -self.value, -self.upper, -self.lower)


def current_snapshot(suite_id: int, *, run_ids: Collection[UUID], tasks: Collection[str]) -> Snapshot | None:
    """Which statistics of a suite are current, told whether they cover these runs and tasks. One query."""
    found = (
        BoardSnapshot.objects.filter(suite=suite_id, is_current=True)
        .values_list("pk", "built_at", "runs", "tasks", "left_out")
        .first()
    )
    if found is None:
        return None
    pk, built_at, covered, covered_tasks, left_out = found
    is_fresh = set(covered) == set(run_ids) and set(covered_tasks) == set(tasks)
    return Snapshot(pk, built_at, is_fresh, left_out)


def suite_statistics(suite_id: int, *, run_ids: Collection[UUID], tasks: Collection[str]) -> SuiteStatistics | None:
    """The current statistics of a retrieval suite, told whether they cover these published runs and installed tasks.

    One query; a second one when this process sees the snapshot for the first time.
    """
    found = current_snapshot(suite_id, run_ids=run_ids, tasks=tasks)
    if found is None:
        return None
    return SuiteStatistics(found.pk, found.built_at, found.is_fresh, found.left_out, snapshot_content(found.pk))


def published_run_ids(suite_id: int) -> list[UUID]:
    """The runs that stand on a suite's boards. One query."""
    return list(Run.objects.filter(LISTED, suite=suite_id).values_list("pk", flat=True))


def installed_tasks(suite_id: int) -> list[str]:
    """The names of the tasks that runs of a suite include. One query."""
    return list(
        Task.objects.filter(suite=suite_id, is_installed=True).order_by("position").values_list("name", flat=True)
    )


def statistics_of_suite(suite_id: int) -> SuiteStatistics | None:
    """The current statistics of a suite. At most four queries."""
    return suite_statistics(suite_id, run_ids=published_run_ids(suite_id), tasks=installed_tasks(suite_id))


def differences_between(snapshot_id: int, run: UUID, other: UUID) -> tuple[PairDifference, ...]:
    """Run minus other, overall and in each family; empty where the snapshot has not compared them. One query."""
    document = BoardSnapshot.objects.values_list("differences", flat=True).get(pk=snapshot_id)
    numbers = {model: number for number, model in enumerate(document["models"])}
    if str(run) not in numbers or str(other) not in numbers:
        return ()
    first, second = numbers[str(run)], numbers[str(other)]
    found = [PairDifference(*rest) for a, b, *rest in document["rows"] if {a, b} == {first, second}]
    return tuple(found) if first < second else tuple(difference.reversed for difference in found)


@lru_cache(maxsize=CACHED_SNAPSHOTS)
def snapshot_content(pk: int) -> BoardContent:
    """The document of a retrieval suite's snapshot, which never changes once it is stored. One query, and then none."""
    return board_content(BoardSnapshot.objects.values_list("content", flat=True).get(pk=pk))


def board_content(document: Mapping[str, Any]) -> BoardContent:
    """A stored document of `board.schema.json`."""
    analyses: dict[str, dict[str, Analysis]] = {}
    for found in document["analyses"]:
        numbers = Analysis(found["value"], found["lower"], found["upper"])
        analyses.setdefault(found["analysis"], {})[found["model"]] = numbers
    return BoardContent(
        resamples=document["resamples"],
        baselines=tuple(document["baselines"]),
        groups={(group["scope"], group["key"]): _standings(group) for group in document["groups"]},
        analyses=analyses,
        buckets=tuple(
            Bucket(
                bucket["bucket"], tuple(bucket["tasks"]), bucket["n_models"],
                bucket["value"], bucket["lower"], bucket["upper"],
            )
            for bucket in document["buckets"]
        ),
    )  # fmt: skip


def _standings(group: Mapping[str, Any]) -> dict[str, Standing]:
    return {
        standing["model"]: Standing(
            run_id=standing["model"],
            n_expected=group["n_expected"],
            **{name: value for name, value in standing.items() if name != "model"},
        )
        for standing in group["standings"]
    }

"""Reads what the best and the median model of a task rank first for some of its queries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from leaderboard.models import Score, TaskExample
from leaderboard.models.vocabulary import Family
from leaderboard.selectors.catalogue import LISTED_SCORE

SHOWN_QUERIES = 6
"""Of the queries that results have examples of, spread evenly over them."""


class Place(NamedTuple):
    """Where an input stands in a task file: a record's number, and its place among the candidates, None for the query."""

    record: int
    place: int | None


def text_may_be_shown(*, data_may_be_shown: bool, family: str, at: Place) -> bool:
    """Whether a text may stand on a page: where the licence of its data allows showing them, or if it names a class.

    Reports, questions and captions of restricted sources are data as much as their images are; the class names that
    images are sorted by are not.
    """
    return data_may_be_shown or (family == Family.IMAGE_TO_LABEL and at.place is not None)


@dataclass(frozen=True, slots=True)
class FirstCandidate:
    """Where a model's first candidate for a query stands; `level_with` others share its similarity."""

    record: int
    candidate: Place
    level_with: int

    @property
    def is_right(self) -> bool:
        """Whether it is the candidate that belongs to the query."""
        return self.candidate == Place(self.record, 0)


@dataclass(frozen=True, slots=True)
class ExampleRun:
    """A published run with its first candidates by record; pools are None where the result does not say."""

    run_id: UUID
    value: float
    first: Mapping[int, FirstCandidate]
    smallest_pool: int | None
    largest_pool: int | None


@dataclass(frozen=True, slots=True)
class ExampleInputRow:
    """A stored input of a task. `width` and `height` of its picture are in pixels, None without one."""

    pk: int
    text: str
    instruction: str
    n_images: int
    is_volume: bool
    width: int | None
    height: int | None

    @property
    def has_image(self) -> bool:
        """Whether a picture of it is stored."""
        return self.width is not None


def example_runs(*, task_id: int, without: Collection[UUID] = ()) -> tuple[ExampleRun, ...]:
    """The best and the median of the published runs with examples, or the only one; `without` those of other data.

    The median run has at least as high a score as half of the runs. Two queries.
    """
    found = Score.objects.filter(LISTED_SCORE, task_run__task=task_id).exclude(task_run__first_ranked=[])
    ordered = list(
        found.exclude(task_run__run__in=list(without))
        .order_by("-value", "task_run__run__revision__model__repo_id", "task_run__run__revision")
        .values_list("pk", flat=True)
    )
    chosen = list(dict.fromkeys([*ordered[:1], *ordered[len(ordered) // 2 : len(ordered) // 2 + 1]]))
    rows = {
        pk: ExampleRun(run_id, value, _first(examples), counts.get("smallest_pool"), counts.get("largest_pool"))
        for pk, run_id, value, examples, counts in Score.objects.filter(pk__in=chosen).values_list(
            "pk", "task_run__run", "value", "task_run__first_ranked", "task_run__counts"
        )
    }
    return tuple(rows[pk] for pk in chosen)


def shown_records(runs: Sequence[ExampleRun]) -> list[int]:
    """The records that are shown: those that all the runs have an example of, spread evenly."""
    common = sorted(set.intersection(*(set(run.first) for run in runs))) if runs else []
    step = max(1, -(-len(common) // SHOWN_QUERIES))
    return common[::step]


def wanted_places(runs: Sequence[ExampleRun]) -> set[Place]:
    """Everything that has to be stored to show the runs' examples."""
    records = shown_records(runs)
    queries = {place for record in records for place in (Place(record, None), Place(record, 0))}
    return queries | {run.first[record].candidate for run in runs for record in records}


def stored_examples(*, task_id: int) -> dict[Place, ExampleInputRow]:
    """The stored inputs of a task, without their pictures. One query."""
    rows = TaskExample.objects.filter(task=task_id)
    facts = ("pk", "text", "instruction", "n_images", "is_volume", "image_width", "image_height")
    return {
        Place(record, place): ExampleInputRow(*rest)
        for record, place, *rest in rows.values_list("record", "place", *facts)
    }


def example_image(*, pk: int) -> bytes | None:
    """The picture of an input of a live suite whose licence allows showing it. One query."""
    image = (
        TaskExample.objects.filter(pk=pk, task__images_may_be_shown=True, task__suite__is_live=True)
        .values_list("image", flat=True)
        .first()
    )
    return None if image is None else bytes(image)


def _first(examples: Sequence[Mapping[str, Any]]) -> dict[int, FirstCandidate]:
    return {
        found["record"]: FirstCandidate(
            record=found["record"],
            candidate=Place(found["candidate_record"], found["candidate_place"]),
            level_with=found["level_with"],
        )
        for found in examples
    }

"""Stores what a task's page shows of its queries."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db import transaction

from leaderboard.models import TaskExample
from leaderboard.models.examples import EXAMPLE_CHARACTERS
from leaderboard.selectors.examples import Place


@dataclass(frozen=True, slots=True)
class Picture:
    """A small JPEG and its size in pixels."""

    content: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ExampleInput:
    """An input to show; `image` is None where there is none to be shown."""

    at: Place
    text: str
    instruction: str
    n_images: int
    is_volume: bool
    image: Picture | None


@transaction.atomic
def task_examples_store(*, task_id: int, wanted: Collection[Place], inputs: Sequence[ExampleInput]) -> None:
    """Add inputs to a task's examples, in the place of earlier ones, and drop those that are not wanted any more."""
    new = {found.at for found in inputs}
    stale = [
        pk
        for pk, *at in TaskExample.objects.filter(task=task_id).values_list("pk", "record", "place")
        if Place(*at) not in wanted or Place(*at) in new
    ]
    TaskExample.objects.filter(pk__in=stale).delete()
    TaskExample.objects.bulk_create(
        TaskExample(
            task_id=task_id,
            record=found.at.record,
            place=found.at.place,
            text=_shortened(found.text),
            instruction=_shortened(found.instruction),
            n_images=found.n_images,
            is_volume=found.is_volume,
            image=found.image.content if found.image else None,
            image_width=found.image.width if found.image else None,
            image_height=found.image.height if found.image else None,
        )
        for found in inputs
    )


def _shortened(text: str) -> str:
    """A text as the database keeps it: without null characters, and cut where it is too long to be shown."""
    text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return text if len(text) <= EXAMPLE_CHARACTERS else f"{text[: EXAMPLE_CHARACTERS - 1]}…"

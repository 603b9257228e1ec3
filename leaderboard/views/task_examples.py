"""Sample queries of a task: what is asked, what is right, and what two models rank first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.models import Task
from leaderboard.selectors.examples import (
    ExampleInputRow,
    ExampleRun,
    FirstCandidate,
    Place,
    example_image,
    shown_records,
    stored_examples,
    text_may_be_shown,
)
from leaderboard.selectors.published import PublishedModel, RunOnTask
from leaderboard.views import figures

PICTURE_SECONDS = 24 * 3600
"""How long browsers may show a picture again: what a number stands for never changes."""
NOT_LICENSED = "image not shown: licence"
TEXT_NOT_LICENSED = "text not shown: licence"
NOT_AVAILABLE = "image not available"


@dataclass(frozen=True, slots=True)
class ShownInput:
    """An input in words, with the address and size of its picture or the reason why there is none."""

    text: str
    instruction: str
    picture: str
    words: str
    width: int | None
    height: int | None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model ranked first; `shown` is None where that was not stored."""

    title: str
    name: str
    verdict: str
    is_right: bool
    shown: ShownInput | None


@dataclass(frozen=True, slots=True)
class ExampleQuery:
    """A query with its right candidate and the answers of the models."""

    number: int
    query: ShownInput
    right: ShownInput | None
    answers: tuple[Answer, ...]


def example_queries(task: Task, runs: Sequence[ExampleRun], results: Sequence[RunOnTask]) -> list[ExampleQuery]:
    """The queries whose inputs are stored. One query of the database, none where no run has examples."""
    if not runs:
        return []
    stored = stored_examples(task_id=task.pk)
    models = {result.model.run_id: result.model for result in results}
    return [
        ExampleQuery(
            number=record,
            query=_shown(task, stored[Place(record, None)], Place(record, None)),
            right=_shown_if(task, stored, Place(record, 0)),
            answers=tuple(
                _answer(
                    title,
                    models[run.run_id],
                    run,
                    run.first[record],
                    _shown_if(task, stored, run.first[record].candidate),
                )
                for title, run in zip(("Best model", "Median model"), runs, strict=False)
            ),
        )
        for record in shown_records(runs)
        if Place(record, None) in stored
    ]


def pool_words(runs: Sequence[ExampleRun]) -> str:
    """How many candidates a query ranks; empty where no result says."""
    known = [run for run in runs if run.smallest_pool is not None and run.largest_pool is not None]
    return figures.rank_interval(known[0].smallest_pool, known[0].largest_pool) if known else ""


@require_safe
@cache_control(public=True, max_age=PICTURE_SECONDS)
@conditional_page
def picture(request: HttpRequest, pk: int) -> HttpResponse:
    """The picture of an input, where the licence of its data allows showing it."""
    content = example_image(pk=pk)
    if content is None:
        raise Http404("There is no such picture, or its licence does not allow showing it.")
    return HttpResponse(content, content_type="image/jpeg")


def _answer(
    title: str, model: PublishedModel, run: ExampleRun, found: FirstCandidate, shown: ShownInput | None
) -> Answer:
    return Answer(
        title=f"{title}, {figures.percent(run.value)} on this task",
        name=model.name,
        verdict=_verdict(found),
        is_right=found.is_right and not found.level_with,
        shown=shown,
    )


def _verdict(found: FirstCandidate) -> str:
    if not found.level_with:
        return "right" if found.is_right else "wrong"
    others = "another one" if found.level_with == 1 else f"{found.level_with} others"
    if found.is_right:
        return f"level with {others}: counts 1 of {found.level_with + 1}"
    return f"wrong, level with {others}"


def _shown_if(task: Task, stored: Mapping[Place, ExampleInputRow], at: Place) -> ShownInput | None:
    return _shown(task, stored[at], at) if at in stored else None


def _shown(task: Task, row: ExampleInputRow, at: Place) -> ShownInput:
    picture = reverse("task-picture", args=[row.pk]) if row.has_image and task.images_may_be_shown else ""
    is_allowed = text_may_be_shown(data_may_be_shown=task.images_may_be_shown, family=task.family, at=at)
    text = row.text if is_allowed else ""
    words = _words(task, row, text)
    return ShownInput(text, row.instruction, picture, words, width=row.width, height=row.height)


def _words(task: Task, row: ExampleInputRow, text: str) -> str:
    """What a picture shows, or why something is not shown; empty for a text."""
    if not row.n_images:
        return "" if text else TEXT_NOT_LICENSED
    if not task.images_may_be_shown:
        return NOT_LICENSED
    if not row.has_image:
        return NOT_AVAILABLE
    if row.is_volume:
        return "Slices of a volume"
    return "Image" if row.n_images == 1 else f"{row.n_images} images"

"""Copies the inputs that task pages show out of a suite's folder: texts and small pictures that the licence allows."""

import io
import logging
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from uuid import UUID

from PIL import Image

from evaluation.decoding.inputs import decode
from evaluation.decoding.sampling import sample_evenly
from evaluation.errors import EvaluationError
from evaluation.inputs import EmbeddingInput
from evaluation.suites.medheb.image_root import ImageRoot
from evaluation.suites.medheb.reader import read_records
from evaluation.suites.medheb.records import parse_record
from evaluation.types import SuiteSpec, TaskSpec
from leaderboard.models import Suite, Task
from leaderboard.selectors.examples import Place, example_runs, stored_examples, text_may_be_shown, wanted_places
from leaderboard.services.examples import ExampleInput, Picture, task_examples_store
from workers.suite_folders import suite_folder

PICTURE_PIXELS = 192
SMALL_PICTURE_PIXELS = 128
"""The longer side of a picture that is alone, and of one among several."""
MOST_PICTURES = 4
JPEG_QUALITY = 82

logger = logging.getLogger(__name__)


def build_examples(suite: Suite, spec: SuiteSpec, *, left_out: dict[str, list[str]]) -> None:
    """Bring the examples of a suite's installed tasks up to date; `left_out` names tasks of other data by run."""
    declared = {task.name: task for task in spec.tasks}
    for task in Task.objects.filter(suite=suite, is_installed=True):
        other_data = [UUID(run_id) for run_id, names in left_out.items() if task.name in names]
        _build(task, declared[task.name], suite_folder(suite), other_data)


def _build(task: Task, spec: TaskSpec, folder: Path, other_data: Collection[UUID]) -> None:
    wanted = wanted_places(example_runs(task_id=task.pk, without=other_data))
    stored = stored_examples(task_id=task.pk).keys()
    if stored == wanted:
        return
    try:
        inputs = list(_inputs(spec, folder, sorted(wanted - stored, key=lambda at: (at.record, at.place or 0))))
    except EvaluationError as error:
        logger.warning("task %s has no examples: %s", task.name, error.message)
        inputs = []
    task_examples_store(task_id=task.pk, wanted=wanted, inputs=inputs)


def _inputs(spec: TaskSpec, folder: Path, places: Sequence[Place]) -> Iterator[ExampleInput]:
    """The inputs at these places; one that is not there, which a result can name, is left out and logged."""
    if not places:
        return
    records = read_records(folder / spec.data_path)
    root = ImageRoot(folder / spec.image_root)
    for at in places:
        where = f"{spec.name}: record {at.record}"
        if at.record >= len(records):
            logger.warning("%s: there are only %d records", where, len(records))
            continue
        record = parse_record(records[at.record], spec.parser, root, where=where)
        if at.place is not None and at.place >= len(record.candidates):
            logger.warning("%s: there is no candidate %d", where, at.place)
            continue
        source = record.query if at.place is None else record.candidates[at.place]
        shows_text = text_may_be_shown(data_may_be_shown=spec.images_may_be_shown, family=spec.family, at=at)
        yield ExampleInput(
            at=at,
            text=source.text if shows_text else "",
            instruction=source.instruction,
            n_images=len(source.images),
            is_volume=source.is_volume,
            image=_picture(source) if spec.images_may_be_shown and source.images else None,
        )


def _picture(source: EmbeddingInput) -> Picture | None:
    """A JPEG of up to four of an input's pictures side by side; None where they cannot be read."""
    try:
        images = decode(source).images
    except EvaluationError as error:
        logger.warning("no picture of %s: %s", source.label, error.message)
        return None
    side = PICTURE_PIXELS if len(images) == 1 else SMALL_PICTURE_PIXELS
    small = [_reduced(image, side) for image in sample_evenly(images, MOST_PICTURES)]
    strip = Image.new("RGB", (sum(image.width for image in small), max(image.height for image in small)))
    left = 0
    for image in small:
        strip.paste(image, (left, (strip.height - image.height) // 2))
        left += image.width
    stream = io.BytesIO()
    strip.save(stream, "JPEG", quality=JPEG_QUALITY, optimize=True)
    return Picture(stream.getvalue(), width=strip.width, height=strip.height)


def _reduced(image: Image.Image, side: int) -> Image.Image:
    reduced = image.convert("RGB")
    reduced.thumbnail((side, side), Image.Resampling.LANCZOS)
    return reduced

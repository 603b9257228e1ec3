"""Builds the demo suite: a small synthetic suite that needs no data and no network."""

from pathlib import Path

from evaluation.suites.building import ImageWriter, SuiteDraft, build_suite
from evaluation.suites.demo.drawing import Gallery, draw_part
from evaluation.suites.demo.label_tasks import (
    find_task,
    head_find_task,
    head_label_task,
    head_match_task,
    label_task,
    match_task,
)
from evaluation.suites.demo.modalities import ABDOMEN, BLOOD, BONE, DERMOSCOPY, RADIOGRAPH, RETINA
from evaluation.suites.demo.relation_tasks import (
    chest_bridge_task,
    chest_volume_report_task,
    definition_task,
    head_bridge_task,
    impression_task,
    organ_question_task,
    radiograph_question_task,
    radiograph_report_task,
    region_task,
    two_views_report_task,
)
from evaluation.suites.demo.training import demo_training
from evaluation.suites.records import TaskDraft
from evaluation.vocabulary import Split

README = """# MedHEB demo suite (synthetic)

Every image, volume, report and label in this folder was drawn by a program. No patient is shown, and a score on this
suite says nothing about clinical use. It exists so that the whole board can be seen at work on a machine without data.

"Machine B" images were rendered with another tone curve, more noise and darker corners; no such image is in the
training files. Patients of the training files are in no task.
"""


def build_demo(out: Path) -> SuiteDraft:
    """Draw the suite into `out`, which must not exist or be empty.

    Raises:
        SuiteInvalid: `out` holds files.
    """
    return build_suite(out, _draw)


def _draw(writer: ImageWriter) -> SuiteDraft:
    training = demo_training(draw_part(writer, "train"))
    return SuiteDraft(
        slug="medheb-demo",
        version="1",
        title="MedHEB demo (synthetic phantoms)",
        synthetic=True,
        tasks=demo_tasks(draw_part(writer, "test"), draw_part(writer, "held_out")),
        training=training,
        readme=README,
    )


def demo_tasks(test: Gallery, held_out: Gallery) -> tuple[TaskDraft, ...]:
    """All tasks, in the order of the families."""
    return (
        *(label_task(modality, test) for modality in (RADIOGRAPH, DERMOSCOPY, BLOOD, BONE)),
        label_task(RETINA, held_out, Split.HELD_OUT),
        head_label_task(test),
        match_task(BLOOD, test),
        match_task(DERMOSCOPY, held_out, Split.HELD_OUT),
        head_match_task(test),
        find_task(RETINA, test),
        find_task(ABDOMEN, test),
        find_task(BONE, held_out, Split.HELD_OUT),
        head_find_task(test),
        radiograph_question_task(test),
        organ_question_task(test),
        radiograph_report_task(test),
        two_views_report_task(test),
        chest_volume_report_task(test),
        impression_task(test),
        definition_task(),
        region_task(ABDOMEN, test),
        region_task(RETINA, test),
        head_bridge_task(test),
        chest_bridge_task(test),
    )

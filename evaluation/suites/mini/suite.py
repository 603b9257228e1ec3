"""Builds the mini suite: real public data in the release's layout."""

from pathlib import Path

from evaluation.errors import DataMissing
from evaluation.suites.building import ImageWriter, SuiteDraft, build_suite
from evaluation.suites.mini.kind_pairs import kind_training
from evaluation.suites.mini.label_tasks import label_parts, label_tasks, label_training
from evaluation.suites.mini.patient_tasks import bridging_tasks, description_tasks, follow_up_task, notes_task
from evaluation.suites.mini.question_tasks import risk_task, view_task, vqa_rad_tasks
from evaluation.suites.mini.region_tasks import region_tasks
from evaluation.suites.mini.sources import eye, skin, vqa_rad
from evaluation.suites.mini.text_tasks import text_tasks
from evaluation.suites.mini.volume_tasks import volume_tasks

README = """# MedHEB mini suite

Small subsets of public medical data sets in the layout of the MedHEB release. The licence of each task's source is in
`suite.json`; images of tasks with `images_may_be_shown` false (non-commercial sources) must not be published.

At most 100 queries a task, drawn with seed 42. Patients (or, where a publisher names none, distinct images, near copies
counted as one) are either in the training files or in tasks. Images with several findings are left out where a task
asks for one label. Held-out sources give no training pairs.

`Train_Data/Kinds.jsonl` says of training images how they were made and of what, and holds texts on other kinds of
pictures and on everyday things, to tell them from. `Skin-Sites.jsonl` has the site that HAM10000's table gives.
"""

NOTES = (
    "Musculoskeletal is thin: questions on bones in VQA-RAD, and bone tumour histology counted by its organ.",
    "Abdominal is thin: VQA-RAD questions and colonoscopy regions; no label task and no 3D volume.",
    "Neuro has one 3D source (hippocampus) and VQA-RAD questions on the head.",
    "3D volumes come from the hippocampus set only; its tasks are derived from label volumes, and it is held out.",
    "X-ray to CT bridging has 11 patients: enough to run the path, not for claims.",
    "Descriptions of NIH films and of HAM10000 images are composed from table fields; they are no radiologist's reports.",
    "Breast images count as thoracic.",
)


def build_mini(raw: Path, out: Path) -> SuiteDraft:
    """Build the suite from the folder of raw data sets into `out`, which must not exist or be empty.

    Raises:
        DataMissing: a source's files are not below `raw`.
        SuiteInvalid: `out` holds files, or a source is not as its reader expects.
    """
    if not raw.is_dir():
        raise DataMissing(f"{raw} is not a folder; name the folder that holds the raw data sets (open/, research/)")
    return build_suite(out, lambda writer: _draw(writer, raw))


def _draw(writer: ImageWriter, raw: Path) -> SuiteDraft:
    parts = label_parts(writer, raw)
    vqa, vqa_pairs = vqa_rad_tasks(raw, parts[vqa_rad.VQA_RAD.dataset])
    risk, risk_pairs = risk_task(raw, parts[eye.GRADING.dataset])
    described, described_pairs = description_tasks(writer, raw, parts[skin.HAM.dataset])
    regions, region_pairs = region_tasks(writer, raw)
    texts, text_pairs = text_tasks(raw)
    return SuiteDraft(
        slug="medheb-mini",
        version="1",
        title="MedHEB mini (real public data)",
        synthetic=False,
        tasks=(
            *label_tasks(parts),
            *vqa,
            view_task(writer, raw),
            risk,
            *described,
            notes_task(writer, raw),
            *texts,
            *regions,
            follow_up_task(writer, raw),
            *bridging_tasks(writer, raw),
            *volume_tasks(writer, raw),
        ),
        training={
            **label_training(parts),
            **kind_training(raw, parts),
            "VQA-RAD_questions": vqa_pairs,
            "IDRiD-Grading_oedema": risk_pairs,
            **described_pairs,
            **region_pairs,
            **text_pairs,
        },
        readme=README,
        notes=NOTES,
    )

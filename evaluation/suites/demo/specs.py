"""What all tasks of the demo suite share: their instructions, and that they are synthetic."""

from evaluation.suites.demo.drawing import Gallery
from evaluation.suites.demo.modalities import Modality
from evaluation.suites.pairing import Case
from evaluation.suites.records import Record, TaskDraft
from evaluation.suites.specs import declare_task
from evaluation.vocabulary import Domain, Family, Parser, PoolScope, Split

NAME_LABEL = "Name what this image shows."
MATCH_LABEL = "Find an image with the same finding in another patient."
FIND_IMAGE = "Find the image that fits this description."
ANSWER = "Answer the question about this image."
TELL_REPORT = "Find the report that was written on this image."
FIND_REGION = "Find the part of this image that shows the named finding."
SAME_PATIENT = "Find the examination of the same patient."
CONCLUDE = "Find the impression that follows from these findings."
DEFINE = "Find the explanation of this term."

LABEL_QUESTION = "What does this {title} show?"
SIDE_QUESTION = "On which side of the image does the finding lie?"
ORGAN_QUESTION = "Which part of the body is this?"
REPORT_QUESTION = "Report on this {title}."
PHRASE = "{title} with {label}"


def draft_task(
    name: str,
    title: str,
    *,
    family: Family,
    domain: Domain,
    parser: Parser,
    dataset: str,
    image_root: str,
    rule: str,
    records: tuple[Record, ...],
    pool: PoolScope = PoolScope.LOCAL,
    split: Split = Split.IN_DISTRIBUTION,
    same_patient: bool = False,
) -> TaskDraft:
    """A task of the demo suite."""
    spec = declare_task(
        name,
        f"{title} (synthetic)",
        family=family,
        domain=domain,
        parser=parser,
        datasets=(dataset,),
        image_root=image_root,
        rule=rule,
        licence="drawn by this project; no patient data",
        shown=True,
        pool=pool,
        split=split,
        notes="Synthetic phantoms: the scores say nothing about clinical use.",
    )
    return TaskDraft(spec, records, same_patient=same_patient)


def cases_of(gallery: Gallery, modality: Modality) -> list[Case]:
    """The cases of one modality."""
    return [drawn.case for drawn in gallery.drawn[modality.dataset]]

"""What all tasks of the mini suite share: instructions, and the facts that follow from the source."""

from collections.abc import Sequence
from dataclasses import replace

from evaluation.suites.mini.library import MAX_QUERIES
from evaluation.suites.mini.source import Source
from evaluation.suites.pairing import generator, sample
from evaluation.suites.records import Evidence, Record, TaskDraft
from evaluation.suites.specs import declare_task
from evaluation.vocabulary import Domain, Family, Granularity, Parser, PoolScope

NAME_LABEL = "Name what this image shows."
MATCH_LABEL = "Find an image of another patient that shows the same."
FIND_IMAGE = "Find the image that fits this description."
ANSWER = "Answer the question about this image."
TELL_REPORT = "Find the text that was written about this image."
FIND_REGION = "Find the part of this image that shows the named structure."
SAME_PATIENT = "Find another examination of the same patient."
LABEL_QUESTION = "What does this {title} show?"
PHRASE = "{title}: {label}"


def draft_task(
    name: str,
    title: str,
    *,
    source: Source,
    family: Family,
    parser: Parser,
    rule: str,
    records: Sequence[Record],
    domain: Domain | None = None,
    pool: PoolScope = PoolScope.LOCAL,
    granularity: Granularity | None = None,
    same_patient: bool = False,
    image_root: str = "",
) -> TaskDraft:
    """A task of at most `MAX_QUERIES` queries, drawn with the seed of its name."""
    spec = declare_task(
        name,
        title,
        family=family,
        domain=domain or source.domain,
        parser=parser,
        datasets=(source.dataset,),
        image_root="" if parser is Parser.TEXT_QA else image_root or source.image_root,
        rule=rule,
        licence=source.licence,
        shown=source.shown,
        pool=pool,
        split=source.split,
        granularity=granularity,
        notes=source.notes,
    )
    capped = tuple(sample(records, MAX_QUERIES, generator(f"{name}: queries")))
    return TaskDraft(spec, capped, same_patient=same_patient)


def below(root: str, evidence: Evidence) -> Evidence:
    """The evidence with image paths below the suite's folder, as training pairs need it."""
    return replace(evidence, images=tuple(f"{root}/{image}" for image in evidence.images))

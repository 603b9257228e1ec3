"""Declares a task from what its author has to say; what follows from the family and the parser is derived here."""

from evaluation.suites.records import VOLUME_PARSERS
from evaluation.types import TaskSpec
from evaluation.vocabulary import Domain, EvidenceForm, Family, Granularity, PairingType, Parser, PoolScope, Split

FORM_FOLDERS = {EvidenceForm.IMAGE_2D: "2D_Task", EvidenceForm.VOLUME_3D: "3D_Task", EvidenceForm.TEXT: "Text_Task"}

# The release names its groups by form and kind of task.
_FORM_GROUPS = {EvidenceForm.IMAGE_2D: "MED_2D", EvidenceForm.VOLUME_3D: "MED_3D"}
_KIND_GROUPS = {
    Family.IMAGE_TO_LABEL: "CLS",
    Family.IMAGE_TO_IMAGE: "I2I",
    Family.TEXT_TO_IMAGE: "T2I",
    Family.QUESTION_ANSWERING: "VQA",
    Family.IMAGE_TO_REPORT: "I2T",
    Family.REGION_GROUNDING: "VG",
    Family.MODALITY_BRIDGING: "I2I",
}
_PAIRING = {
    Family.IMAGE_TO_IMAGE: PairingType.IMAGE_IMAGE,
    Family.REGION_GROUNDING: PairingType.IMAGE_IMAGE,
    Family.TEXT_TO_TEXT: PairingType.TEXT_TEXT,
    Family.MODALITY_BRIDGING: PairingType.MODALITY_BRIDGING,
}
_GRANULARITY = {
    Family.QUESTION_ANSWERING: Granularity.QUESTION_CONDITIONED,
    Family.REGION_GROUNDING: Granularity.REGION_LEVEL,
}


def evidence_form(parser: Parser) -> EvidenceForm:
    """The evidence form that a parser reads."""
    if parser in VOLUME_PARSERS:
        return EvidenceForm.VOLUME_3D
    return EvidenceForm.TEXT if parser is Parser.TEXT_QA else EvidenceForm.IMAGE_2D


def declare_task(
    name: str,
    title: str,
    *,
    family: Family,
    domain: Domain,
    parser: Parser,
    datasets: tuple[str, ...],
    image_root: str,
    rule: str,
    licence: str,
    shown: bool,
    pool: PoolScope = PoolScope.LOCAL,
    split: Split = Split.IN_DISTRIBUTION,
    granularity: Granularity | None = None,
    notes: str = "",
) -> TaskSpec:
    """The specification of one task; its file lies in the folder of its evidence form and first data set."""
    form = evidence_form(parser)
    return TaskSpec(
        name=name,
        title=title,
        family=family,
        domain=domain,
        evidence_form=form,
        pairing_type=_PAIRING.get(family, PairingType.IMAGE_TEXT),
        granularity=granularity or _GRANULARITY.get(family, Granularity.GLOBAL_LABEL),
        split=split,
        pool=pool,
        parser=parser,
        datasets=datasets,
        image_root=image_root,
        data_path=f"{FORM_FOLDERS[form]}/{datasets[0]}/{name}.json",
        relevance_rule=rule,
        group=f"MED_OOD_{datasets[0]}" if split is Split.HELD_OUT else _group(form, family),
        licence=licence,
        images_may_be_shown=shown,
        notes=notes,
    )


def _group(form: EvidenceForm, family: Family) -> str:
    if form is EvidenceForm.TEXT:
        return "MED_T2T"
    return f"{_FORM_GROUPS[form]}_{_KIND_GROUPS[family]}"

"""Demo tasks on relations: questions, reports, texts, regions, and examinations of one patient."""

from evaluation.suites.demo import chest
from evaluation.suites.demo.drawing import CHEST_ROOT, HEAD_ROOT, Drawn, Gallery
from evaluation.suites.demo.modalities import MODALITIES, RADIOGRAPH, Modality
from evaluation.suites.demo.specs import (
    ANSWER,
    CONCLUDE,
    DEFINE,
    FIND_REGION,
    ORGAN_QUESTION,
    REPORT_QUESTION,
    SAME_PATIENT,
    SIDE_QUESTION,
    TELL_REPORT,
    cases_of,
    draft_task,
)
from evaluation.suites.demo.words import DEFINITIONS, impression
from evaluation.suites.pairing import (
    Case,
    Question,
    TextPair,
    answer_questions,
    generator,
    link_evidence,
    link_texts,
    sample,
    tell_caption,
    with_question,
)
from evaluation.suites.records import Evidence, TaskDraft
from evaluation.vocabulary import Domain, Family, Parser, PoolScope


def side_questions(drawn: tuple[Drawn, ...]) -> list[Question]:
    """Where the finding lies, for those that have a side."""
    sides = ("left", "right")
    return [
        Question(SIDE_QUESTION, item.side, tuple(side for side in sides if side != item.side), item.case)
        for item in drawn
        if item.side
    ]


def organ_questions(gallery: Gallery, per_modality: int) -> list[Question]:
    """Which part of the body the first cases of each modality show."""
    organs = tuple(modality.organ for modality in MODALITIES)
    return [
        Question(ORGAN_QUESTION, modality.organ, tuple(organ for organ in organs if organ != modality.organ), case)
        for modality in MODALITIES
        for case in cases_of(gallery, modality)[:per_modality]
    ]


def radiograph_question_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoRadiograph_qa",
        "Side of the finding on a chest radiograph",
        family=Family.QUESTION_ANSWERING,
        domain=Domain.THORACIC,
        parser=Parser.IMAGE_QA,
        dataset=RADIOGRAPH.dataset,
        image_root=RADIOGRAPH.image_root,
        rule="the side on which the finding was drawn",
        records=answer_questions(side_questions(gallery.drawn[RADIOGRAPH.dataset]), instruction=ANSWER),
    )


def organ_question_task(gallery: Gallery) -> TaskDraft:
    questions = [
        Question(question.text, question.answer, question.wrong, _below_two_d(question.case))
        for question in organ_questions(gallery, 6)
        if question.case is not None
    ]
    return draft_task(
        "DemoOrgans_qa",
        "Part of the body shown by any 2D image",
        family=Family.QUESTION_ANSWERING,
        domain=Domain.MULTI_ORGAN,
        parser=Parser.IMAGE_QA,
        dataset="DemoOrgans",
        image_root="2D_Images",
        rule="the part of the body that was drawn",
        records=answer_questions(questions, instruction=ANSWER),
    )


def _below_two_d(case: Case) -> Case:
    folder = case.patient.split("/")[0]
    return Case(case.patient, tuple(f"{folder}/{image}" for image in case.images), case.label, case.caption)


def radiograph_report_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoRadiograph_report",
        "Report of a chest radiograph",
        family=Family.IMAGE_TO_REPORT,
        domain=Domain.THORACIC,
        parser=Parser.IMAGE_QA,
        dataset=RADIOGRAPH.dataset,
        image_root=RADIOGRAPH.image_root,
        rule="the report on the image; the others belong to other patients",
        records=tell_caption(
            cases_of(gallery, RADIOGRAPH),
            instruction=TELL_REPORT,
            question=REPORT_QUESTION.format(title=RADIOGRAPH.title),
            distractors=14,
            rng=generator("DemoRadiograph_report"),
        ),
    )


def two_views_report_task(gallery: Gallery) -> TaskDraft:
    cases = [
        Case(case.patient, (*case.images, repeat), case.label, case.caption)
        for case, repeat in zip(cases_of(gallery, RADIOGRAPH), gallery.repeats, strict=True)
    ]
    return draft_task(
        "DemoRadiographPair_report",
        "Report of two chest radiographs of one patient",
        family=Family.IMAGE_TO_REPORT,
        domain=Domain.THORACIC,
        parser=Parser.IMAGE_QA,
        dataset=RADIOGRAPH.dataset,
        image_root=RADIOGRAPH.image_root,
        rule="the report on the two images; the others belong to other patients",
        records=tell_caption(
            cases,
            instruction=TELL_REPORT,
            question=REPORT_QUESTION.format(title="pair of chest radiographs"),
            distractors=14,
            rng=generator("DemoRadiographPair_report"),
        ),
    )


def chest_volume_report_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoChestCT_report",
        "Report of a chest CT volume",
        family=Family.IMAGE_TO_REPORT,
        domain=Domain.THORACIC,
        parser=Parser.VOLUME_I2T,
        dataset="DemoChest",
        image_root=CHEST_ROOT,
        rule="the report on the patient; the others belong to other patients",
        records=tell_caption(
            [pair.second for pair in gallery.chests],
            instruction=TELL_REPORT,
            question=REPORT_QUESTION.format(title="chest CT volume"),
            distractors=14,
            rng=generator("DemoChestCT_report"),
        ),
    )


def impression_task(gallery: Gallery) -> TaskDraft:
    pairs = [
        TextPair(drawn.case.caption, impression(drawn.case.label, drawn.side))
        for drawn in gallery.drawn[RADIOGRAPH.dataset]
    ]
    return draft_task(
        "DemoFindings_impression",
        "Impression for the findings of a chest report",
        family=Family.TEXT_TO_TEXT,
        domain=Domain.THORACIC,
        parser=Parser.TEXT_QA,
        dataset="DemoReports",
        image_root="",
        rule="the impression of the same finding on the same side",
        records=link_texts(
            pairs, instruction=CONCLUDE, distractors=len(chest.FINDINGS) + 2, rng=generator("DemoFindings_impression")
        ),
    )


def definition_task() -> TaskDraft:
    pairs = [TextPair(f"What is {term}?", definition) for term, definition in DEFINITIONS.items()]
    return draft_task(
        "DemoGlossary_qa",
        "Explanation of a medical term",
        family=Family.TEXT_TO_TEXT,
        domain=Domain.MULTI_ORGAN,
        parser=Parser.TEXT_QA,
        dataset="DemoGlossary",
        image_root="",
        rule="the explanation of the term",
        records=link_texts(pairs, instruction=DEFINE, distractors=23, rng=generator("DemoGlossary_qa")),
    )


def region_pairs(drawn: tuple[Drawn, ...]) -> list[tuple[Evidence, Evidence]]:
    """Image with the name of its finding, and the crop of the finding."""
    return [
        (
            with_question(item.case, item.case.label),
            Evidence(images=(item.crop,), patients=frozenset({item.case.patient})),
        )
        for item in drawn
        if item.crop is not None
    ]


def region_task(modality: Modality, gallery: Gallery) -> TaskDraft:
    name = f"{modality.dataset}_region"
    pairs = sample(region_pairs(gallery.drawn[modality.dataset]), 24, generator(name))
    return draft_task(
        name,
        f"Region of the finding on a {modality.title}",
        family=Family.REGION_GROUNDING,
        domain=modality.domain,
        parser=Parser.IMAGE_I2I,
        dataset=modality.dataset,
        image_root=modality.image_root,
        rule="the crop around the named finding of the same image",
        records=link_evidence(pairs, instruction=FIND_REGION),
        pool=PoolScope.GLOBAL,
        same_patient=True,
    )


def head_bridge_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoHead_t1_to_t2",
        "T2 volume of the patient of a T1 volume",
        family=Family.MODALITY_BRIDGING,
        domain=Domain.NEURO,
        parser=Parser.VOLUME_I2I,
        dataset="DemoHead",
        image_root=HEAD_ROOT,
        rule="the T2 volume of the same patient",
        records=link_evidence(
            [(pair.first.evidence, pair.second.evidence) for pair in gallery.heads], instruction=SAME_PATIENT
        ),
        pool=PoolScope.GLOBAL,
        same_patient=True,
    )


def chest_bridge_task(gallery: Gallery) -> TaskDraft:
    return draft_task(
        "DemoChest_radiograph_to_ct",
        "CT volume of the patient of a chest radiograph",
        family=Family.MODALITY_BRIDGING,
        domain=Domain.THORACIC,
        parser=Parser.VOLUME_I2I,
        dataset="DemoChest",
        image_root=CHEST_ROOT,
        rule="the CT volume of the same patient",
        records=link_evidence(
            [(pair.first.evidence, pair.second.evidence) for pair in gallery.chests], instruction=SAME_PATIENT
        ),
        pool=PoolScope.GLOBAL,
        same_patient=True,
    )

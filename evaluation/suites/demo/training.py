"""The training pairs of the demo suite, from patients of their own."""

from pathlib import PurePosixPath

from evaluation.suites.demo.drawing import CHEST_ROOT, HEAD_ROOT, Drawn, Gallery
from evaluation.suites.demo.modalities import MODALITIES, RADIOGRAPH, Modality
from evaluation.suites.demo.relation_tasks import organ_questions, region_pairs, side_questions
from evaluation.suites.demo.specs import (
    ANSWER,
    CONCLUDE,
    FIND_IMAGE,
    FIND_REGION,
    LABEL_QUESTION,
    MATCH_LABEL,
    NAME_LABEL,
    PHRASE,
    REPORT_QUESTION,
    SAME_PATIENT,
    TELL_REPORT,
    cases_of,
)
from evaluation.suites.demo.words import impression
from evaluation.suites.pairing import Case, with_question
from evaluation.suites.records import Evidence, TrainingPair


def demo_training(train: Gallery) -> dict[str, list[TrainingPair]]:
    """Pairs by file name: one file a modality, one for the questions on organs, one for reports."""
    files = {modality.dataset: _modality_pairs(modality, train) for modality in MODALITIES}
    files["DemoHead"] = _head_pairs(train)
    files["DemoChest"] = _chest_pairs(train)
    files["DemoReports"] = [
        TrainingPair(
            CONCLUDE, Evidence(text=drawn.case.caption), Evidence(text=impression(drawn.case.label, drawn.side))
        )
        for drawn in train.drawn[RADIOGRAPH.dataset]
    ]
    return files


def _below(root: str, evidence: Evidence) -> Evidence:
    """The evidence with its image paths below the suite's folder."""
    images = tuple(str(PurePosixPath(root) / image) for image in evidence.images)
    return Evidence(evidence.text, images, evidence.is_volume, evidence.patients)


def _label_pairs(cases: list[Case], title: str, root: str) -> list[TrainingPair]:
    """Case to label, label to case, case to the next case with its label."""
    pairs = []
    question = LABEL_QUESTION.format(title=title)
    for case in cases:
        image = _below(root, case.evidence)
        asked = _below(root, with_question(case, question))
        described = Evidence(text=PHRASE.format(title=title, label=case.label))
        label = f"{title}/{case.label}"
        pairs.append(TrainingPair(NAME_LABEL, asked, Evidence(text=case.label), label))
        pairs.append(TrainingPair(FIND_IMAGE, described, image, label))
        same = [other for other in cases if other.label == case.label]
        following = same[(same.index(case) + 1) % len(same)]
        pairs.append(TrainingPair(MATCH_LABEL, image, _below(root, following.evidence), label))
    return pairs


def _report_pairs(cases: list[Case], title: str, root: str) -> list[TrainingPair]:
    question = REPORT_QUESTION.format(title=title)
    return [
        TrainingPair(TELL_REPORT, _below(root, with_question(case, question)), Evidence(text=case.caption))
        for case in cases
    ]


def _modality_pairs(modality: Modality, train: Gallery) -> list[TrainingPair]:
    root = modality.image_root
    cases = cases_of(train, modality)
    drawn: tuple[Drawn, ...] = train.drawn[modality.dataset]
    questions = [
        *side_questions(drawn),
        *(item for item in organ_questions(train, len(cases)) if item.answer == modality.organ),
    ]
    return [
        *_label_pairs(cases, modality.title, root),
        *_report_pairs(cases, modality.title, root),
        *(
            TrainingPair(ANSWER, _below(root, with_question(item.case, item.text)), Evidence(text=item.answer))
            for item in questions
            if item.case is not None
        ),
        *(
            TrainingPair(FIND_REGION, _below(root, image), _below(root, region))
            for image, region in region_pairs(drawn)
        ),
    ]


def _head_pairs(train: Gallery) -> list[TrainingPair]:
    title = "head MR volume"
    first = [pair.first for pair in train.heads]
    second = [pair.second for pair in train.heads]
    return [
        *_label_pairs(first, title, HEAD_ROOT),
        *_label_pairs(second, title, HEAD_ROOT),
        *_report_pairs(first, title, HEAD_ROOT),
        *(
            TrainingPair(SAME_PATIENT, _below(HEAD_ROOT, one.evidence), _below(HEAD_ROOT, other.evidence))
            for one, other in zip(first, second, strict=True)
        ),
    ]


def _chest_pairs(train: Gallery) -> list[TrainingPair]:
    volumes = [pair.second for pair in train.chests]
    return [
        *_label_pairs(volumes, "chest CT volume", CHEST_ROOT),
        *_report_pairs(volumes, "chest CT volume", CHEST_ROOT),
        *(
            TrainingPair(
                SAME_PATIENT, _below(CHEST_ROOT, pair.first.evidence), _below(CHEST_ROOT, pair.second.evidence)
            )
            for pair in train.chests
        ),
    ]

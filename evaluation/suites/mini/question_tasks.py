"""Tasks on questions: VQA-RAD by organ, views of chest films, oedema risk of fundus photographs."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from evaluation.suites.building import ImageWriter
from evaluation.suites.mini.drafting import ANSWER, below, draft_task
from evaluation.suites.mini.label_tasks import graded_eyes
from evaluation.suites.mini.library import Parts, copy_case
from evaluation.suites.mini.sources import chest, eye, vqa_rad
from evaluation.suites.mini.sources.vqa_rad import RadQuestion
from evaluation.suites.pairing import Case, Question, answer_questions, generator, sample, with_question
from evaluation.suites.records import Evidence, TaskDraft, TrainingPair
from evaluation.vocabulary import Domain, Family, Parser

WRONG_ANSWERS = 9
YES_NO = ("yes", "no")
ORGAN_DOMAINS = {"chest": Domain.THORACIC, "abdomen": Domain.ABDOMINAL, "head": Domain.NEURO}
VIEW_QUESTION = "Was this film taken from the back or from the front?"
RISK_QUESTION = "How high is the risk of macular oedema?"


def vqa_rad_tasks(raw: Path, parts: Parts) -> tuple[list[TaskDraft], list[TrainingPair]]:
    """For each organ one task on open and one on closed questions, one task on bones; and training pairs.

    Questions on bones are in the bone task only. The images were copied with the organ labels, and are split as there.
    """
    cases = {case.images[0]: case for case in (*parts.test, *parts.train)}
    trained = {case.patient for case in parts.train}
    questions = [
        (question, cases[question.case.file.name])
        for question in vqa_rad.read_vqa_rad(raw)
        if question.case.file.name in cases
    ]
    test = [(question, case) for question, case in questions if case.patient not in trained]
    tasks = []
    for organ, domain in ORGAN_DOMAINS.items():
        for closed in (False, True):
            name = f"VQA-RAD_{organ}_{'closed' if closed else 'open'}"
            chosen = [
                (question, case)
                for question, case in test
                if case.label == organ and question.closed == closed and not question.about_bones
            ]
            tasks.append(_vqa_task(name, f"Questions on the {organ}", chosen, domain))
    bones = [(question, case) for question, case in test if question.about_bones]
    tasks.append(_vqa_task("VQA-RAD_bones", "Questions on bones", bones, Domain.MUSCULOSKELETAL))
    root = vqa_rad.VQA_RAD.image_root
    pairs = [
        TrainingPair(ANSWER, below(root, with_question(case, question.question)), Evidence(text=question.answer))
        for question, case in questions
        if case.patient in trained
    ]
    return tasks, pairs


def _vqa_task(name: str, title: str, chosen: Sequence[tuple[RadQuestion, Case]], domain: Domain) -> TaskDraft:
    return draft_task(
        name,
        title,
        source=vqa_rad.VQA_RAD,
        family=Family.QUESTION_ANSWERING,
        parser=Parser.IMAGE_QA,
        rule="the publisher's answer; wrong answers answer other questions of the same type, or are the other of yes and no",
        records=answer_questions(_with_wrong_answers(name, chosen), instruction=ANSWER),
        domain=domain,
    )


def _with_wrong_answers(name: str, chosen: Sequence[tuple[RadQuestion, Case]]) -> list[Question]:
    """Questions with their own wrong answers; those whose type has no other answer are left out."""
    rng = generator(name)
    answers: dict[str, set[str]] = defaultdict(set)
    for question, _ in chosen:
        if question.answer.lower() not in YES_NO:
            answers[question.kind].add(question.answer.lower())
    made = []
    for question, case in chosen:
        answer = question.answer.lower()
        if answer in YES_NO:
            wrong: list[str] = [word for word in YES_NO if word != answer]
        else:
            others = sorted(other for other in answers[question.kind] if not _overlap(other, answer))
            wrong = sample(others, WRONG_ANSWERS, rng)
        if wrong:
            made.append(Question(question.question, answer, tuple(wrong), case))
    return made


def _overlap(one: str, other: str) -> bool:
    """Whether one answer is a part of the other, so that both could be right ("axial" and "axial plane")."""
    return one in other or other in one


def view_task(writer: ImageWriter, raw: Path) -> TaskDraft:
    """Posteroanterior or anteroposterior, on NIH films."""
    answers = {"PA": "from the back (posteroanterior)", "AP": "from the front (anteroposterior)"}
    questions = []
    for raw_case, row in chest.read_nih(raw):
        answer = answers[row["View Position"]]
        wrong = tuple(other for other in answers.values() if other != answer)
        questions.append(Question(VIEW_QUESTION, answer, wrong, copy_case(writer, chest.NIH, raw_case)))
    return draft_task(
        "NIH-CXR_view",
        "View of a chest radiograph",
        source=chest.NIH,
        family=Family.QUESTION_ANSWERING,
        parser=Parser.IMAGE_QA,
        rule="the view in the publisher's table",
        records=answer_questions(questions, instruction=ANSWER),
    )


def risk_task(raw: Path, parts: Parts) -> tuple[TaskDraft, list[TrainingPair]]:
    """Risk of macular oedema, on IDRiD photographs; and training pairs."""
    risks = {case.file.name: risk for case, risk in graded_eyes(raw)}
    root = eye.GRADING.image_root
    questions = [
        Question(
            RISK_QUESTION,
            risks[case.images[0]],
            tuple(risk for risk in eye.OEDEMA_RISKS if risk != risks[case.images[0]]),
            case,
        )
        for case in parts.test
    ]
    task = draft_task(
        "IDRiD-Grading_oedema",
        "Risk of macular oedema",
        source=eye.GRADING,
        family=Family.QUESTION_ANSWERING,
        parser=Parser.IMAGE_QA,
        rule="the publisher's grade of the risk",
        records=answer_questions(questions, instruction=ANSWER),
    )
    pairs = [
        TrainingPair(ANSWER, below(root, with_question(case, RISK_QUESTION)), Evidence(text=risks[case.images[0]]))
        for case in parts.train
    ]
    return task, pairs

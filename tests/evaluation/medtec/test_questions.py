"""Closed questions: statements by rules, golden examples by hand; and VQA-RAD's file, drawn and real."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.errors import DataMissing, EvaluationError, RecordInvalid, SuiteInvalid
from evaluation.suites.medtec.question_rules import RULE_NAMES, statement_pair
from evaluation.suites.medtec.questions import build_vqa_rad, question_path, read_questions
from tests.evaluation.medtec.published import write_image

GOLDEN = [
    (
        "negated_existence",
        "Is there no evidence of a clot?",
        "there is no evidence of a clot",
        "there is evidence of a clot",
    ),
    (
        "something",
        "Is anything wrong in the image?",
        "there is something wrong in the image",
        "there is nothing wrong in the image",
    ),
    ("something", "Is there anything wrong?", "there is something wrong", "there is nothing wrong"),
    ("quantity", "Are there >8 ribs shown?", "there are >8 ribs shown", "there are not >8 ribs shown"),
    (
        "quantity",
        "Is there more than one lesion?",
        "there is more than one lesion",
        "there is not more than one lesion",
    ),
    ("existence_with_article", "Is there a pneumothorax?", "there is a pneumothorax", "there is no pneumothorax"),
    (
        "existence_with_article",
        "is there an NG tube present",
        "there is an NG tube present",
        "there is no NG tube present",
    ),
    ("existence", "Is there any edema?", "there is edema", "there is no edema"),
    (
        "existence",
        "Are there rib fractures present?",
        "there are rib fractures present",
        "there are no rib fractures present",
    ),
    (
        "existence",
        "IS there air under the diaphragm?",
        "there is air under the diaphragm",
        "there is no air under the diaphragm",
    ),
    (
        "short_existence",
        "Evidence of hemorrhage?",
        "there is evidence of hemorrhage",
        "there is no evidence of hemorrhage",
    ),
    ("short_existence", "Notice any abnormality?", "there is abnormality", "there is no abnormality"),
    (
        "presence_with_article",
        "Is a skull fracture present?",
        "a skull fracture is present",
        "no skull fracture is present",
    ),
    ("any_of", "Are any of the ribs fractured?", "some of the ribs are fractured", "none of the ribs are fractured"),
    ("presence_of_any", "Are any fractures present?", "some fractures are present", "no fractures are present"),
    ("this_is", "Is this a CT scan?", "this is a CT scan", "this is not a CT scan"),
    ("this_is", "Is this in the PA plane?", "this is in the PA plane", "this is not in the PA plane"),
    ("subject_is_noun", "Is the mass a cyst?", "the mass is a cyst", "the mass is not a cyst"),
    (
        "subject_is_noun",
        "Are the ventricles the same size?",
        "the ventricles are the same size",
        "the ventricles are not the same size",
    ),
    (
        "subject_with_place_is",
        "Are the kidneys in this image abnormal?",
        "the kidneys in this image are abnormal",
        "the kidneys in this image are not abnormal",
    ),
    ("subject_is", "Is the heart enlarged?", "the heart is enlarged", "the heart is not enlarged"),
    ("subject_is", "Are both kidneys visualized?", "both kidneys are visualized", "both kidneys are not visualized"),
    (
        "subject_is",
        "Was IV contrast given to the patient?",
        "IV contrast was given to the patient",
        "IV contrast was not given to the patient",
    ),
    (
        "subject_is",
        "Is the aorta within normal limits?",
        "the aorta is within normal limits",
        "the aorta is not within normal limits",
    ),
    ("subject_is_somewhere", "Is the aorta in view?", "the aorta is in view", "the aorta is not in view"),
    (
        "subject_does",
        "Does this patient have cardiomegaly?",
        "this patient does have cardiomegaly",
        "this patient does not have cardiomegaly",
    ),
    (
        "subject_does",
        "Do you see a pleural effusion?",
        "you do see a pleural effusion",
        "you do not see a pleural effusion",
    ),
    ("observer_can", "Can you see the kidneys?", "you can see the kidneys", "you cannot see the kidneys"),
    (
        "subject_can",
        "Can the liver be seen in this image?",
        "the liver can be seen in this image",
        "the liver cannot be seen in this image",
    ),
    ("subject_has", "Has the left lung collapsed?", "the left lung has collapsed", "the left lung has not collapsed"),
]

NEGATIONS = {"no", "not", "none", "nothing", "cannot"}


@pytest.mark.parametrize(("rule", "question", "affirmative", "negative"), GOLDEN)
def test_golden_statements(rule: str, question: str, affirmative: str, negative: str) -> None:
    pair = statement_pair(question)
    assert pair is not None
    assert (pair.rule, pair.affirmative, pair.negative) == (rule, affirmative, negative)


def test_every_rule_has_a_golden_example() -> None:
    assert {rule for rule, *_ in GOLDEN} == set(RULE_NAMES)


@pytest.mark.parametrize(
    "question",
    [
        "What do the two small hyperintensities indicate?",
        "Will medical therapy be enough?",
        "Are the borders of the mass well-defined and is the interior of the mass homogenous?",
        "Besides the mass, are there other enhancements?",
        "Can this plane detect an aneurysm if present?",
        "",
        "?",
    ],
)
def test_a_question_without_a_rule_has_no_statements(question: str) -> None:
    assert statement_pair(question) is None


@given(st.text(max_size=60))
def test_any_text_gives_two_different_statements_or_none(question: str) -> None:
    pair = statement_pair(question)
    assert pair is None or pair.affirmative != pair.negative


def record(image: str, question: str, answer: Any) -> dict[str, Any]:
    return {
        "qid": "0",
        "image_case_url": f"https://medpix.nlm.nih.gov/case?id=case-of-{image}",
        "image_name": f"{image}.jpg",
        "question": question,
        "answer": answer,
        "answer_type": "CLOSED",
    }


RECORDS = [
    record("one", "Is the heart enlarged?", "Yes"),
    record("one", "Is the heart enlarged?", "Yes"),
    record("one", "Is there a  mass? ", " no "),
    record("two", "Is the heart enlarged?", "NO"),
    record("two", "What is shown?", "the chest"),
    record("two", "How many nodules?", 3),
    record("two", "Will medical therapy be enough?", "no"),
]


def write_vqa(folder: Path, records: list[Any]) -> Path:
    for number, name in enumerate(("one", "two")):
        write_image(folder / "VQA_RAD Image Folder" / f"{name}.jpg", number)
    (folder / "VQA_RAD Dataset Public.json").write_text(json.dumps(records), encoding="utf-8")
    return folder


def test_repeats_are_dropped_and_questions_without_a_rule_kept_apart(tmp_path: Path) -> None:
    found = build_vqa_rad(write_vqa(tmp_path / "source", RECORDS), tmp_path / "suite")
    assert (found.rows, found.repeats, found.open) == (7, 1, 2)
    assert [(question.path, question.cluster, question.answer) for question in found.questions] == [
        ("images/vqa_rad/one.jpg", "case-of-one", "yes"),
        ("images/vqa_rad/one.jpg", "case-of-one", "no"),
        ("images/vqa_rad/two.jpg", "case-of-two", "no"),
    ]
    assert found.questions[1].question == "Is there a mass?"
    assert found.counts_by_rule() == {"existence_with_article": 1, "subject_is": 2}
    assert [question.question for question in found.without_rule] == ["Will medical therapy be enough?"]


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    source = write_vqa(tmp_path / "source", RECORDS)
    contents = set()
    for name in ("first", "second"):
        build_vqa_rad(source, tmp_path / name)
        contents.add(question_path(tmp_path / name, "vqa_rad").read_bytes())
    assert len(contents) == 1


@pytest.mark.parametrize(
    ("records", "error", "problem"),
    [
        ({}, SuiteInvalid, "list is expected, not dict"),
        (["text"], SuiteInvalid, "record 0: dict is expected, not str"),
        ([{"image_name": "one.jpg"}], RecordInvalid, "record 0: image_case_url, question, answer is missing"),
        ([RECORDS[0], record("one", " ", "yes")], RecordInvalid, "row 1: question is empty"),
        ([record("three", "Is there a mass?", "yes")], DataMissing, r"row 0: image 'three\.jpg' is not below"),
        ([record("one", "What?", "the chest")], SuiteInvalid, "no question that is answered by yes or no"),
        ([record("one", "Will it be enough?", "yes")], SuiteInvalid, "no question with statements"),
    ],
)
def test_a_broken_file_of_the_publisher_is_refused(
    records: Any, error: type[Exception], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=problem):
        build_vqa_rad(write_vqa(tmp_path / "source", records), tmp_path / "suite")


def test_a_source_without_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissing, match=r"VQA_RAD Dataset Public\.json does not exist"):
        build_vqa_rad(tmp_path, tmp_path / "suite")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"answer": "maybe"}, "question 1: answer is 'maybe'"),
        ({"rule": ""}, "question 1: rule, affirmative and negative must be all filled or all empty"),
        ({"negative": "there is a mass"}, "question 1: affirmative and negative are the same text"),
        ({"path": "images/vqa_rad/three.jpg"}, "question 1: images/vqa_rad/three.jpg is not there"),
        ({"path": "../one.jpg"}, "question 1: path"),
        ({"cluster": ""}, "question 1: cluster: the text is empty"),
        ({"question": 7}, "question 1: question: str is expected, not int"),
        ({"colour": "red"}, "question 1: unknown key 'colour'"),
    ],
)
def test_a_broken_question_is_refused_by_number(changes: dict[str, Any], problem: str, tmp_path: Path) -> None:
    build_vqa_rad(write_vqa(tmp_path / "source", RECORDS), tmp_path / "suite")
    path = question_path(tmp_path / "suite", "vqa_rad")
    body = json.loads(path.read_text("utf-8"))
    body["questions"][1] |= changes
    path.write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(EvaluationError) as caught:
        read_questions(path)
    assert problem in caught.value.message


@pytest.mark.real_data
def test_the_public_file_has_1191_closed_questions(real_data: Path, tmp_path: Path) -> None:
    found = build_vqa_rad(real_data / "open/vqa_rad", tmp_path / "suite")
    closed = (*found.questions, *found.without_rule)
    # 2,248 published, 4 repeats, 606 no and 585 yes: counted on the public file when the suite was specified.
    assert (found.rows, found.repeats) == (2248, 4)
    assert Counter(question.answer for question in closed) == {"no": 606, "yes": 585}
    assert len(found.questions) / len(closed) > 0.98
    for question in found.questions:
        affirmative, negative = question.affirmative.split(), question.negative.split()
        assert abs(len(affirmative) - len(negative)) <= 1
        one_sided = (Counter(affirmative) - Counter(negative)) + (Counter(negative) - Counter(affirmative))
        assert NEGATIONS.intersection(one_sided), question
        assert sum(one_sided.values()) <= 2

"""Closed questions on images with the two statements that a dual encoder chooses between: `questions/<data set>.json`.

VQA-RAD is read from the publisher's JSON file. Exact repeats of image, question and answer are dropped; closed is what
is answered by yes or no once spaces and case are out of the way. Questions without a rule stay in the file, apart.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import DataMissing, RecordInvalid, SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.json_fields import filled, json_object, read_json, relative_path, typed
from evaluation.manifest import SCHEMA_VERSION
from evaluation.suites.medtec.anchors.images import ImageFolder
from evaluation.suites.medtec.anchors.placing import Placing
from evaluation.suites.medtec.anchors.tables import Row
from evaluation.suites.medtec.question_rules import statement_pair

FOLDER = "questions"
VQA_RAD = "vqa_rad"
ANSWERS = ("yes", "no")

_TABLE = "VQA_RAD Dataset Public.json"
_TEXTS = ("image_name", "image_case_url", "question")
_HEAD = ("schema_version", "dataset", "title", "licence", "images_may_be_shown", "rows", "repeats", "open")
_KEYS = ("path", "cluster", "question", "answer", "rule", "affirmative", "negative")


@dataclass(frozen=True, slots=True)
class ClosedQuestion:
    """One question. `path` is relative to the suite's folder, `cluster` the published case, `answer` yes or no.

    `affirmative` is what a yes asserts, `negative` what a no asserts; with `rule` they are empty where no rule fits.
    """

    path: str
    cluster: str
    question: str
    answer: str
    rule: str
    affirmative: str
    negative: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The closed questions of a data set.

    `rows` were published, of which `repeats` were dropped and `open` have another answer than yes or no. `questions`
    have statements, `without_rule` have none and are not scored. `sha256` is that of the file.
    """

    dataset: str
    title: str
    licence: str
    images_may_be_shown: bool
    rows: int
    repeats: int
    open: int
    questions: tuple[ClosedQuestion, ...]
    without_rule: tuple[ClosedQuestion, ...]
    sha256: str

    def counts_by_rule(self) -> dict[str, int]:
        """How many questions each rule made statements of, by name of the rule."""
        return dict(sorted(Counter(question.rule for question in self.questions).items()))


def question_path(folder: Path, dataset: str) -> Path:
    """Where the questions of a data set lie in a suite's folder."""
    return folder / FOLDER / f"{dataset}.json"


def build_vqa_rad(source: Path, folder: Path) -> QuestionSet:
    """Read VQA-RAD from the folder with the publisher's JSON file and images, and write its closed questions.

    Raises:
        SuiteInvalid: file or images are not as the publisher gives them; the message names the record, from 0.
    """
    records = _records(source / _TABLE)
    distinct = list(
        {(row.cells["image_name"], row.cells["question"], row.cells["answer"]): row for row in records}.values()
    )
    closed = [row for row in distinct if _answer(row) in ANSWERS]
    if not closed:
        raise SuiteInvalid(
            f"{source / _TABLE} has no question that is answered by yes or no. Use the publisher's file."
        )
    images = ImageFolder(source)
    placing = Placing(folder, VQA_RAD, FileHashes())
    questions = [_closed_question(row, images, placing) for row in closed]
    body = {
        "schema_version": SCHEMA_VERSION,
        "dataset": VQA_RAD,
        "title": "VQA-RAD",
        "licence": "CC0 1.0",
        "images_may_be_shown": True,
        "rows": len(records),
        "repeats": len(records) - len(distinct),
        "open": len(distinct) - len(closed),
        "questions": [asdict(question) for question in questions],
    }
    write_question_file(question_path(folder, VQA_RAD), body)
    return read_questions(question_path(folder, VQA_RAD))


def write_question_file(path: Path, body: Mapping[str, Any]) -> None:
    """Write a question file; equal content gives equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_questions(path: Path) -> QuestionSet:
    """Read `<suite>/questions/<data set>.json` and look for every image.

    Raises:
        SuiteInvalid: the file breaks the format; the message names the question by its number, from 0.
        DataMissing: an image is not there.
    """
    fields = json_object(read_json(path), (*_HEAD, "questions"), where=str(path))
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SuiteInvalid(f"{path}: schema_version must be {SCHEMA_VERSION}. Build the questions again.")
    items = typed(fields["questions"], list, where=f"{path}: questions")
    questions = [_read_question(item, path, number) for number, item in enumerate(items)]
    if not any(question.rule for question in questions):
        raise SuiteInvalid(f"{path} has no question with statements. Build the questions again.")
    return QuestionSet(
        dataset=filled(fields["dataset"], where=f"{path}: dataset"),
        title=filled(fields["title"], where=f"{path}: title"),
        licence=filled(fields["licence"], where=f"{path}: licence"),
        images_may_be_shown=typed(fields["images_may_be_shown"], bool, where=f"{path}: images_may_be_shown"),
        rows=typed(fields["rows"], int, where=f"{path}: rows"),
        repeats=typed(fields["repeats"], int, where=f"{path}: repeats"),
        open=typed(fields["open"], int, where=f"{path}: open"),
        questions=tuple(question for question in questions if question.rule),
        without_rule=tuple(question for question in questions if not question.rule),
        sha256=FileHashes().of(path),
    )


def _records(path: Path) -> list[Row]:
    """The publisher's records; answers may be numbers there."""
    if not path.is_file():
        raise DataMissing(f"{path} does not exist; put the publisher's file there")
    rows = []
    for number, record in enumerate(typed(read_json(path), list, where=str(path))):
        fields = typed(record, dict, where=f"{path}, record {number}")
        missing = [key for key in (*_TEXTS, "answer") if key not in fields]
        if missing:
            raise RecordInvalid(f"{path}, record {number}: {', '.join(missing)} is missing; use the publisher's file")
        row = Row(path, number, {key: str(fields[key]) for key in (*_TEXTS, "answer")})
        for key in _TEXTS:
            row.filled(key)
        rows.append(row)
    return rows


def _answer(row: Row) -> str:
    return row.text("answer").lower()


def _closed_question(row: Row, images: ImageFolder, placing: Placing) -> ClosedQuestion:
    name = row.text("image_name")
    path, _ = placing.place(images.of(row, name), Path(name).stem)
    pair = statement_pair(row.text("question"))
    return ClosedQuestion(
        path=path,
        cluster=row.text("image_case_url").rpartition("=")[2],
        question=" ".join(row.text("question").split()),
        answer=_answer(row),
        rule=pair.rule if pair else "",
        affirmative=pair.affirmative if pair else "",
        negative=pair.negative if pair else "",
    )


def _read_question(value: Any, path: Path, number: int) -> ClosedQuestion:
    where = f"{path}: question {number}"
    fields = json_object(value, _KEYS, where=where)
    for key in ("path", "cluster", "question"):
        filled(fields[key], where=f"{where}: {key}")
    statements = [typed(fields[key], str, where=f"{where}: {key}") for key in ("rule", "affirmative", "negative")]
    if any(statements) and not all(text.strip() for text in statements):
        raise RecordInvalid(f"{where}: rule, affirmative and negative must be all filled or all empty.")
    if statements[1] and statements[1] == statements[2]:
        raise RecordInvalid(f"{where}: affirmative and negative are the same text.")
    if fields["answer"] not in ANSWERS:
        raise RecordInvalid(f"{where}: answer is {fields['answer']!r}; it must be yes or no.")
    relative_path(fields["path"], where=f"{where}: path")
    if not (path.parent.parent / fields["path"]).is_file():
        raise DataMissing(f"{where}: {fields['path']} is not there; build the questions again or install the images")
    return ClosedQuestion(**{key: fields[key] for key in _KEYS})

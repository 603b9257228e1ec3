"""The kinds of retrieval task, each a function from cases to records.

Every draw of distractors comes from a generator seeded with the task's name, so that adding a task moves no other.
A distractor never has the label, the content or the patient of the query or of the relevant candidate.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evaluation.errors import SuiteInvalid
from evaluation.suites.records import Evidence, Record

SEED = 42
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Case:
    """An image, several images or a volume of one patient, and what is known about it."""

    patient: str
    images: tuple[str, ...]
    label: str
    caption: str = ""
    is_volume: bool = False

    @property
    def evidence(self) -> Evidence:
        """The case as query or candidate."""
        return Evidence(images=self.images, is_volume=self.is_volume, patients=frozenset({self.patient}))


def generator(name: str) -> np.random.Generator:
    """A generator that depends on the seed and `name` only."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.default_rng([SEED, int.from_bytes(digest[:8], "big")])


def sample(items: Sequence[Item], limit: int, rng: np.random.Generator) -> list[Item]:
    """At most `limit` of the items, drawn without replacement and kept in their order."""
    if len(items) <= limit:
        return list(items)
    return [items[number] for number in sorted(rng.choice(len(items), size=limit, replace=False))]


def with_question(case: Case, text: str) -> Evidence:
    """The case with a text beside it."""
    return Evidence(text=text, images=case.images, is_volume=case.is_volume, patients=frozenset({case.patient}))


def name_label(cases: Iterable[Case], *, instruction: str, question: str, labels: Sequence[str]) -> tuple[Record, ...]:
    """Image or volume to label: the candidates are all `labels`."""
    return tuple(
        Record(
            instruction=instruction,
            query=with_question(case, question),
            candidates=_texts((case.label, *(label for label in labels if label != case.label))),
        )
        for case in cases
    )


def match_label(
    queries: Sequence[Case], gallery: Sequence[Case], *, instruction: str, distractors: int, rng: np.random.Generator
) -> tuple[Record, ...]:
    """Image or volume to another patient's image or volume with the same label."""
    records = []
    for query in queries:
        others = [case for case in gallery if case.patient != query.patient]
        relevant = _choose(_with_label(others, query.label), rng)
        wrong = sample(_without(others, query.label, relevant), distractors, rng)
        records.append(Record(instruction, query.evidence, tuple(case.evidence for case in (relevant, *wrong))))
    return tuple(records)


def find_label(
    cases: Sequence[Case], *, instruction: str, phrase: str, distractors: int, rng: np.random.Generator
) -> tuple[Record, ...]:
    """Text to image or volume: `phrase` has a place for the label; each case is the relevant one once."""
    records = []
    for case in cases:
        wrong = sample(_without(cases, case.label, case), distractors, rng)
        query = Evidence(text=phrase.format(label=case.label))
        records.append(Record(instruction, query, tuple(item.evidence for item in (case, *wrong))))
    return tuple(records)


def find_caption(cases: Sequence[Case], *, instruction: str) -> tuple[Record, ...]:
    """Caption to image or volume over a global pool: each record holds its relevant case only."""
    return tuple(Record(instruction, Evidence(text=case.caption), (case.evidence,)) for case in cases)


def tell_caption(
    cases: Sequence[Case], *, instruction: str, question: str, distractors: int, rng: np.random.Generator
) -> tuple[Record, ...]:
    """Image or volume to its caption or report among those of other patients."""
    records = []
    for case in cases:
        wrong = sorted({other.caption for other in cases if other.patient != case.patient} - {case.caption})
        candidates = _texts((case.caption, *sample(wrong, distractors, rng)))
        records.append(Record(instruction, with_question(case, question), candidates))
    return tuple(records)


@dataclass(frozen=True, slots=True)
class Question:
    """A question on a case (or, with `case` None, on nothing but its text), its answer and wrong answers."""

    text: str
    answer: str
    wrong: tuple[str, ...]
    case: Case | None = None


def answer_questions(questions: Iterable[Question], *, instruction: str) -> tuple[Record, ...]:
    """Question-conditioned retrieval: the candidates are the answer and the question's own wrong answers."""
    return tuple(
        Record(
            instruction,
            with_question(question.case, question.text) if question.case else Evidence(text=question.text),
            _texts((question.answer, *question.wrong)),
        )
        for question in questions
    )


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts that belong together, e.g. a question and its summary."""

    query: str
    relevant: str


def link_texts(
    pairs: Sequence[TextPair], *, instruction: str, distractors: int, rng: np.random.Generator
) -> tuple[Record, ...]:
    """Text to text: the distractors are what belongs to other queries."""
    texts = sorted({pair.relevant for pair in pairs})
    records = []
    for pair in pairs:
        own = {other.relevant for other in pairs if other.query == pair.query}
        wrong = sample([text for text in texts if text not in own], distractors, rng)
        records.append(Record(instruction, Evidence(text=pair.query), _texts((pair.relevant, *wrong))))
    return tuple(records)


def link_evidence(pairs: Iterable[tuple[Evidence, Evidence]], *, instruction: str) -> tuple[Record, ...]:
    """Evidence to evidence over a global pool (regions, bridging, follow-up): one candidate a record."""
    return tuple(Record(instruction, query, (relevant,)) for query, relevant in pairs)


def _texts(texts: Iterable[str]) -> tuple[Evidence, ...]:
    return tuple(Evidence(text=text) for text in texts)


def _with_label(cases: Iterable[Case], label: str) -> list[Case]:
    return [case for case in cases if case.label == label]


def _without(cases: Iterable[Case], label: str, relevant: Case) -> list[Case]:
    return [case for case in cases if case.label != label and case.patient != relevant.patient]


def _choose(cases: Sequence[Case], rng: np.random.Generator) -> Case:
    if not cases:
        raise SuiteInvalid("a label has cases of one patient only, so no relevant candidate exists; leave it out")
    return cases[int(rng.integers(len(cases)))]

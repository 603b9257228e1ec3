"""Text-to-text tasks."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from evaluation.suites.mini.drafting import draft_task
from evaluation.suites.mini.source import Source
from evaluation.suites.mini.sources.texts import SECTIONS, read_medquad, read_meqsum, read_mts_dialog, read_pubmedqa
from evaluation.suites.pairing import Question, TextPair, answer_questions, generator, link_texts
from evaluation.suites.records import Evidence, TaskDraft, TrainingPair
from evaluation.vocabulary import Domain, Family, Parser, Split

DISTRACTORS = 49
MAX_TRAINING = 100
HEADING = "Name the section of a medical note that this conversation belongs to."

_COLLECTIONS = (
    (
        "PubMedQA",
        "MIT",
        "Conclusion that answers a research question",
        "Find the conclusion that answers this question.",
    ),
    ("MedQuAD", "CC BY 4.0", "Answer to a consumer's question", "Find the passage that answers this question."),
    ("MeQSum", "CC BY 4.0", "Summary of a consumer's question", "Find the short form of this question."),
    ("MTS-Dialog", "CC BY 4.0", "Note section for a conversation", "Find the note written after this conversation."),
)


def _source(dataset: str, licence: str) -> Source:
    return Source(dataset, "", dataset, Domain.MULTI_ORGAN, licence, shown=True, split=Split.IN_DISTRIBUTION)


def _is_trained(text: str) -> bool:
    """Half of the queries, by the hash of their text."""
    return hashlib.sha256(text.encode()).digest()[0] % 2 == 0


def text_tasks(raw: Path) -> tuple[list[TaskDraft], dict[str, list[TrainingPair]]]:
    """One task a collection, and the heading of a section; and training pairs from the other half of each."""
    dialogues, headings = read_mts_dialog(raw)
    collections = (read_pubmedqa(raw), read_medquad(raw), read_meqsum(raw), dialogues)
    tasks, training = [], {}
    for (dataset, licence, title, instruction), pairs in zip(_COLLECTIONS, collections, strict=True):
        tasks.append(_task(_source(dataset, licence), title, instruction, pairs))
        trained = [pair for pair in pairs if _is_trained(pair.query)][:MAX_TRAINING]
        training[dataset] = [
            TrainingPair(instruction, Evidence(text=pair.query), Evidence(text=pair.relevant)) for pair in trained
        ]
    return [*tasks, _heading_task(headings)], training


def _task(source: Source, title: str, instruction: str, pairs: Sequence[TextPair]) -> TaskDraft:
    name = f"{source.dataset}_t2t"
    held = [pair for pair in pairs if not _is_trained(pair.query)]
    return draft_task(
        name,
        title,
        source=source,
        family=Family.TEXT_TO_TEXT,
        parser=Parser.TEXT_QA,
        rule="the text that the publisher pairs with the query; the others belong to other queries",
        records=link_texts(held, instruction=instruction, distractors=DISTRACTORS, rng=generator(name)),
    )


def _heading_task(headings: Sequence[tuple[str, str]]) -> TaskDraft:
    questions = [
        Question(dialogue, heading, tuple(other for other in SECTIONS.values() if other != heading))
        for dialogue, heading in headings
        if not _is_trained(dialogue)
    ]
    return draft_task(
        "MTS-Dialog_section",
        "Section of a note for a conversation",
        source=_source("MTS-Dialog", "CC BY 4.0"),
        family=Family.TEXT_TO_TEXT,
        parser=Parser.TEXT_QA,
        rule="the heading that the publisher gives the conversation's section",
        records=answer_questions(questions, instruction=HEADING),
    )

"""Records of a task file and pairs of a training file, as a suite builder holds them before they are written."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evaluation.types import TaskSpec
from evaluation.vocabulary import Parser

IMAGE_MARK = "<image>"
VOLUME_PARSERS = frozenset({Parser.VOLUME_I2T, Parser.VOLUME_T2I, Parser.VOLUME_I2I})


@dataclass(frozen=True, slots=True)
class Evidence:
    """One side of a pair: a text, images (paths below the image root), or both.

    `patients` names whose evidence this is, qualified by data set (`"busi/12"`); it is never written, it serves the
    leakage check. Texts that belong to nobody (labels, answers) have none.
    """

    text: str = ""
    images: tuple[str, ...] = ()
    is_volume: bool = False
    patients: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Record:
    """One query and its candidates; the relevant candidate is the first."""

    instruction: str
    query: Evidence
    candidates: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task and its records.

    `same_patient` says that the query's own patient stands among the candidates on purpose (follow-up, bridging,
    regions of the query image).
    """

    spec: TaskSpec
    records: tuple[Record, ...]
    same_patient: bool = False


@dataclass(frozen=True, slots=True)
class TrainingPair:
    """A query and what it should be close to; image paths are relative to the suite's folder.

    Pairs with the same `label` (not empty) are equally right for each other's query: the positive of one is no negative
    of the other.
    """

    instruction: str
    query: Evidence
    positive: Evidence
    label: str = ""


def record_to_json(record: Record, parser: Parser) -> dict[str, Any]:
    """The record in the release's format."""
    body: dict[str, Any] = {"qry_inst": record.instruction, "qry_text": record.query.text}
    if record.query.images:
        one_image = len(record.query.images) == 1 and not record.query.is_volume
        body["qry_img_path"] = record.query.images[0] if one_image else list(record.query.images)
    if parser in VOLUME_PARSERS:
        body["qry_modality"] = "video" if record.query.is_volume else "image"
        body["tgt_modality"] = "video" if record.candidates[0].is_volume else "image"
    body["tgt_text"] = [candidate.text for candidate in record.candidates]
    if record.candidates[0].images:
        body["tgt_img_path"] = _candidate_images(record)
    return body


def _candidate_images(record: Record) -> list[Any]:
    if record.candidates[0].is_volume:
        return [list(candidate.images) for candidate in record.candidates]
    if len(record.candidates) == 1:
        return list(record.candidates[0].images)
    return [candidate.images[0] for candidate in record.candidates]


def pair_to_json(pair: TrainingPair) -> dict[str, Any]:
    """The pair in the release's training format: `<image>` marks stand before the text, in the order of the paths.

    `positive_images` (a list for each positive) is written where the positive holds images, `label` where there is one,
    and the modality of a volume as in task files.
    """
    body: dict[str, Any] = {
        "messages": [
            {"role": "system", "content": pair.instruction},
            {"role": "user", "content": _marked(pair.query)},
        ],
        "images": list(pair.query.images),
        "positive_messages": [[{"role": "user", "content": _marked(pair.positive)}]],
    }
    if pair.positive.images:
        body["positive_images"] = [list(pair.positive.images)]
    for name, side in (("qry_modality", pair.query), ("tgt_modality", pair.positive)):
        if side.is_volume:
            body[name] = "video"
    if pair.label:
        body["label"] = pair.label
    return body


def _marked(evidence: Evidence) -> str:
    return IMAGE_MARK * len(evidence.images) + evidence.text


def patients_of(evidence: Iterable[Evidence]) -> frozenset[str]:
    """All patients of several pieces of evidence."""
    return frozenset().union(*(piece.patients for piece in evidence))

"""Reads training pairs in the release's format (`Train_Data/*.jsonl`)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.errors import DataMissing, RecordInvalid
from evaluation.suites.records import IMAGE_MARK

TRAINING_FOLDER = "Train_Data"


@dataclass(frozen=True, slots=True)
class PairSide:
    """One side of a pair: text without image marks, and the images as files."""

    text: str
    images: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class LoadedPair:
    """A training pair; `source` is the file's name without its ending. See `TrainingPair` for `label`."""

    source: str
    instruction: str
    query: PairSide
    positive: PairSide
    label: str


def read_training_pairs(suite: Path) -> list[LoadedPair]:
    """All training pairs of a suite folder, by file name and line.

    Raises:
        DataMissing: the suite has no training files, or an image of a pair is not there.
        RecordInvalid: a line is not a pair; the message names file and line.
    """
    files = sorted((suite / TRAINING_FOLDER).glob("*.jsonl"))
    pairs = [pair for file in files for pair in _read_file(file, suite)]
    if not pairs:
        raise DataMissing(f"{suite / TRAINING_FOLDER} holds no training pairs; build a suite with a train split")
    return pairs


def _read_file(file: Path, suite: Path) -> Iterator[LoadedPair]:
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            place = f"{file}, line {number}"
            try:
                yield _pair(file.stem, json.loads(line), suite, place)
            except (json.JSONDecodeError, KeyError, IndexError, TypeError, AttributeError) as error:
                raise RecordInvalid(f"{place} is not a training pair: {error!r}; see the suite format") from error


def _pair(source: str, body: dict[str, Any], suite: Path, place: str) -> LoadedPair:
    messages = {message["role"]: message["content"] for message in body["messages"]}
    positive = body["positive_messages"][0][-1]["content"]
    positive_images = body.get("positive_images", [[]])[0]
    return LoadedPair(
        source=source,
        instruction=messages.get("system", ""),
        query=_side(messages["user"], body["images"], suite, place),
        positive=_side(positive, positive_images, suite, place),
        label=body.get("label", ""),
    )


def _side(content: str, images: list[str], suite: Path, place: str) -> PairSide:
    if content.count(IMAGE_MARK) != len(images):
        marks = content.count(IMAGE_MARK)
        raise RecordInvalid(f"{place}: {marks} {IMAGE_MARK} marks for {len(images)} images; make the numbers equal")
    files = tuple(suite / image for image in images)
    for path in files:
        if not path.is_file():
            raise DataMissing(f"{place}: {path} does not exist; install the training images")
    text = content.replace(IMAGE_MARK, "").strip()
    if not text and not files:
        raise RecordInvalid(f"{place}: a side has neither text nor images")
    return PairSide(text, files)

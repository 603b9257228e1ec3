"""Records of the release's training format, each read and checked by itself.

A line of `Train_Data/*.jsonl` is an object:

- `messages`: the user's turn is the query, a system's turn its instruction; `<image>` marks stand for `images` in order.
- `positive_messages`, `positive_images`: a list that holds what the query should be close to, in the same form.
- `negative_messages`, `negative_images`: wrong answers that are worth telling apart, any number of them.
- Without `positive_images` and `negative_images`, `images` holds those of all turns, in the order of their marks.
- `qry_modality`, `tgt_modality`: `video` where the images of a query, or of each target, are the slices of one volume.
- `label` (a text, or a list of texts: a set) and `study`: what makes another record's positive no negative of this query.
  Labels are compared within a file; a study is named uniquely over all files.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from evaluation.errors import RecordInvalid, SuiteInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.json_fields import filled, typed
from evaluation.suites.medheb.image_root import ImageRoot
from evaluation.suites.records import IMAGE_MARK

_OTHER_MARKS = ("<video>", "<audio>")
_VOLUME, _IMAGES = "video", "image"
_TARGETS = ("positive", "negative")
_Turns = dict[str, str]
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """A query, its positive and its hard negatives; `source` is the file's name without its ending."""

    source: str
    query: EmbeddingInput
    positive: EmbeddingInput
    negatives: tuple[EmbeddingInput, ...] = ()
    labels: frozenset[str] = frozenset()
    study: str = ""

    @property
    def inputs(self) -> tuple[EmbeddingInput, ...]:
        """Everything of the record that is embedded: query, positive, hard negatives."""
        return (self.query, self.positive, *self.negatives)


class RecordReader:
    """Reads lines of training files whose image paths are relative to one folder."""

    def __init__(self, folder: Path) -> None:
        self._root = ImageRoot(folder)

    def record(self, line: bytes, *, source: str, where: str) -> TrainingRecord:
        """The record of one line; `where` names file and line in messages.

        Raises:
            RecordInvalid: the line is no record.
            DataMissing: an image is not there.
        """
        try:
            return self._record(json.loads(line.decode("utf-8")), source=source, where=where)
        except UnicodeDecodeError as error:
            raise RecordInvalid(f"{where} is not UTF-8 at byte {error.start}; save the file as UTF-8.") from error
        except (ValueError, RecursionError) as error:
            raise RecordInvalid(f"{where} is not JSON: {error}; write one object a line.") from error
        except SuiteInvalid as error:
            if type(error) is SuiteInvalid:  # a check of one field, which does not know that it is a record's
                raise RecordInvalid(error.message) from error
            raise

    def _record(self, body: Any, *, source: str, where: str) -> TrainingRecord:
        fields = typed(body, dict, where=where)
        query = _turns(_field(fields, "messages", list, where=where), where=f"{where}, messages")
        targets = {name: _all_turns(fields, name, where=where) for name in _TARGETS}
        if len(targets["positive"]) != 1:
            raise RecordInvalid(f"{where}: {len(targets['positive'])} positives; write one record for each positive.")
        images = iter(_images(fields, query, targets, where=where))
        is_volume = _is_volume(fields, "qry_modality", where=where)
        found = [self._input(query, next(images), is_volume=is_volume, where=f"{where}, messages")]
        is_volume = _is_volume(fields, "tgt_modality", where=where)
        for name, every in targets.items():
            for number, turns in enumerate(every):
                place = f"{where}, {name} {number}"
                found.append(self._input(turns, next(images), is_volume=is_volume, where=place))
        if found[1] in found[2:]:
            raise RecordInvalid(f"{where}: the positive stands among the negatives; take it out there.")
        return TrainingRecord(
            source=source,
            query=found[0],
            positive=found[1],
            negatives=tuple(found[2:]),
            labels=_labels(fields.get("label", ""), where=f"{where}, label"),
            study=typed(fields.get("study", ""), str, where=f"{where}, study"),
        )

    def _input(self, turns: _Turns, paths: Sequence[str], *, is_volume: bool, where: str) -> EmbeddingInput:
        content = turns["user"]
        marks = content.count(IMAGE_MARK)
        if marks != len(paths):
            raise RecordInvalid(f"{where}: {marks} {IMAGE_MARK} marks for {len(paths)} images; make the numbers equal.")
        for mark in _OTHER_MARKS:
            if mark in content:
                raise RecordInvalid(f"{where}: {mark} cannot be read; give the slices or frames as images.")
        text = content.replace(IMAGE_MARK, "").strip()
        if not text and not paths:
            raise RecordInvalid(f"{where}: there is neither text nor an image.")
        return EmbeddingInput(
            text=text,
            images=tuple(self._root.file(path, where=where) for path in paths),
            is_volume=is_volume and bool(paths),
            instruction=turns.get("system", "").strip(),
        )


def _images(
    fields: dict[str, Any], query: _Turns, targets: Mapping[str, Sequence[_Turns]], *, where: str
) -> list[list[str]]:
    """The image paths of the query, of each positive and of each negative."""
    images = _paths(fields.get("images", []), where=f"{where}, images")
    if not any(f"{name}_images" in fields for name in _TARGETS):
        return _by_marks(images, [turns["user"].count(IMAGE_MARK) for turns in (query, *chain(*targets.values()))])
    found = [images]
    for name, every in targets.items():
        place = f"{where}, {name}_images"
        lists = typed(fields.get(f"{name}_images", [[]] * len(every)), list, where=place)
        if len(lists) != len(every):
            raise RecordInvalid(f"{where}: {len(every)} {name}_messages and {len(lists)} {name}_images; pair them.")
        found += [_paths(paths, where=place) for paths in lists]
    return found


def _by_marks(images: list[str], marks: Sequence[int]) -> list[list[str]]:
    """One list of paths dealt out in the order of all marks; paths that are left over stay with the query."""
    left = iter(images)
    dealt = [list(islice(left, count)) for count in marks]
    dealt[0] += left
    return dealt


def _paths(value: Any, *, where: str) -> list[str]:
    return [filled(path, where=where) for path in typed(value, list, where=where)]


def _all_turns(fields: dict[str, Any], name: str, *, where: str) -> list[_Turns]:
    messages = typed(fields.get(f"{name}_messages", []), list, where=f"{where}, {name}_messages")
    return [_turns(each, where=f"{where}, {name} {number}") for number, each in enumerate(messages)]


def _turns(messages: Any, *, where: str) -> _Turns:
    """Contents by role: one user's turn, and at most one system's."""
    turns: dict[str, str] = {}
    for message in typed(messages, list, where=where):
        fields = typed(message, dict, where=where)
        role = _field(fields, "role", str, where=where)
        if role not in ("system", "user"):
            raise RecordInvalid(f"{where}: a turn of the role {role!r}; only system and user are read.")
        if role in turns:
            raise RecordInvalid(f"{where}: two turns of the role {role!r}; join them.")
        turns[role] = _field(fields, "content", str, where=where)
    if "user" not in turns:
        raise RecordInvalid(f"{where}: there is no turn of the user.")
    return turns


def _field(fields: dict[str, Any], name: str, kind: type[_Value], *, where: str) -> _Value:
    if name not in fields:
        raise RecordInvalid(f"{where}: {name!r} is missing.")
    return typed(fields[name], kind, where=f"{where}, {name}")


def _is_volume(fields: dict[str, Any], name: str, *, where: str) -> bool:
    modality = fields.get(name, _IMAGES)
    if modality not in (_VOLUME, _IMAGES):
        raise RecordInvalid(f"{where}, {name}: {modality!r} is neither {_IMAGES!r} nor {_VOLUME!r}.")
    return bool(modality == _VOLUME)


def _labels(value: Any, *, where: str) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset({value}) if value else frozenset()
    labels: Sequence[Any] = typed(value, list, where=where)
    return frozenset(filled(label, where=where) for label in labels)

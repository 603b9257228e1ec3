"""The record format of MedHEB task files: one JSON object a query, read by one of nine parsers.

Fields: `qry_inst` (instruction), `qry_text`, `qry_img_path` (a path or a list of paths), `qry_modality`, `tgt_text`
(list), `tgt_img_path` (list of paths, or of lists of paths), `tgt_modality`. The modality `video` makes a list one
volume, `image` makes it images; where it is absent, volume parsers read volumes. Other fields are the publisher's own
business and are ignored. The relevant candidate stands first.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from evaluation.errors import RecordInvalid
from evaluation.inputs import EmbeddingInput
from evaluation.suites.medheb.image_root import ImageRoot
from evaluation.vocabulary import Parser

MAX_TEXT_CHARACTERS = 1_000_000
"""The longest text of a record; a report has some thousands."""

_VOLUME_FILE_SUFFIXES = (".nii", ".nii.gz", ".dcm")


class _Side(Enum):
    TEXT = auto()
    IMAGE = auto()
    VOLUME = auto()


_SIDES: Mapping[Parser, tuple[_Side, _Side]] = {
    Parser.IMAGE_CLS: (_Side.IMAGE, _Side.TEXT),
    Parser.IMAGE_QA: (_Side.IMAGE, _Side.TEXT),
    Parser.IMAGE_I2I: (_Side.IMAGE, _Side.IMAGE),
    Parser.IMAGE_I2I_VG: (_Side.IMAGE, _Side.IMAGE),
    Parser.IMAGE_T2I: (_Side.TEXT, _Side.IMAGE),
    Parser.TEXT_QA: (_Side.TEXT, _Side.TEXT),
    Parser.VOLUME_I2T: (_Side.VOLUME, _Side.TEXT),
    Parser.VOLUME_T2I: (_Side.TEXT, _Side.VOLUME),
    Parser.VOLUME_I2I: (_Side.VOLUME, _Side.VOLUME),
}
_SHOWN_CHARACTERS = 200
_LONGEST_PATH = 4096
_GROUPING_PARSERS = frozenset({Parser.IMAGE_I2I, Parser.IMAGE_I2I_VG})


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """A query and its own candidates in the order of the record; the first is relevant."""

    query: EmbeddingInput
    candidates: tuple[EmbeddingInput, ...]


def named_files(record: Any) -> Iterator[str]:
    """All paths that a record names, whatever else is right or wrong with it."""
    if isinstance(record, dict):
        yield from _texts_within(record.get("qry_img_path"))
        yield from _texts_within(record.get("tgt_img_path"))


def _texts_within(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value.strip():
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_within(item)


def parse_record(record: Any, parser: Parser, root: ImageRoot, *, where: str) -> ParsedRecord:
    """Check one record and turn it into inputs; `where` names file and record in messages.

    Raises:
        RecordInvalid: a field is missing, has the wrong type, is empty, or does not fit its neighbours.
        DataMissing: an image is not installed.
    """
    if not isinstance(record, dict):
        raise RecordInvalid(f"{where}: a JSON object is expected, not {type(record).__name__}.")
    fields = _Fields(record=record, root=root, where=where)
    query_side, candidate_side = _SIDES[parser]
    query = _text_query(fields) if query_side is _Side.TEXT else _image_query(fields, query_side)
    if candidate_side is _Side.TEXT:
        candidates = _text_candidates(fields)
    elif parser in _GROUPING_PARSERS:
        candidates = _grouped_image_candidates(fields)
    else:
        candidates = _image_candidates(fields, candidate_side)
    return ParsedRecord(query=query, candidates=candidates)


@dataclass(frozen=True, slots=True)
class _Fields:
    """Typed access to the fields of one record."""

    record: Mapping[str, Any]
    root: ImageRoot
    where: str

    def error(self, field: str, problem: str) -> RecordInvalid:
        return RecordInvalid(f"{self.where}: {field} {problem}.")

    def text(self, field: str) -> str:
        if field not in self.record:
            raise self.error(field, "is missing; write an empty text if there is none")
        return self.checked_text(field, self.record[field])

    def checked_text(self, field: str, value: Any) -> str:
        """A text of bounded length that can be written as UTF-8; a text of white space only counts as none."""
        if not isinstance(value, str):
            raise self.error(field, f"is {type(value).__name__}, a text is expected")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise self.error(field, "has a lone surrogate, which no text encoding can write") from error
        if len(value) > MAX_TEXT_CHARACTERS:
            raise self.error(field, f"has {len(value):,} characters; at most {MAX_TEXT_CHARACTERS:,} are read")
        return value if value.strip() else ""

    def listed(self, field: str) -> list[Any]:
        """A list field; absent, null and the empty list are the same."""
        value = self.record.get(field)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.error(field, f"is {type(value).__name__}, a list is expected")
        return value

    def texts(self, field: str) -> list[str]:
        return [self.checked_text(f"{field}[{number}]", text) for number, text in enumerate(self.listed(field))]

    def files(self, field: str, value: Any) -> tuple[Path, ...]:
        """One path or a list of paths as files, at least one."""
        paths = [value] if isinstance(value, str) else value
        if not isinstance(paths, list):
            raise self.error(field, f"is {type(value).__name__}, a path or a list of paths is expected")
        if not paths:
            raise self.error(field, "is an empty list")
        return tuple(self._file(field, path) for path in paths)

    def _file(self, field: str, path: Any) -> Path:
        if not isinstance(path, str) or not path.strip():
            raise self.error(field, f"has {repr(path)[:_SHOWN_CHARACTERS]} where a path is expected")
        if len(path) > _LONGEST_PATH:
            raise self.error(field, f"has a text of {len(path):,} characters where a path is expected")
        self.checked_text(field, path)
        return self.root.file(path, where=f"{self.where}: {field}")

    def is_volume(self, field: str, side: _Side) -> bool:
        """Whether a side's list of images is one volume."""
        modality = self.record.get(field)
        if modality is None:
            return side is _Side.VOLUME
        if modality not in ("video", "image"):
            shown = repr(modality)[:_SHOWN_CHARACTERS]
            raise self.error(field, f"is {shown}; 'video' or 'image' is expected")
        if modality == "video" and side is _Side.IMAGE:
            raise self.error(field, "is 'video', but the task's parser reads images")
        return bool(modality == "video")

    def refuse_images(self, field: str) -> None:
        value = self.record.get(field)
        blank = all(item == "" for item in value) if isinstance(value, list) else not value
        if not blank:
            raise self.error(field, "has images, but the task's parser reads text there")


def _text_query(fields: _Fields) -> EmbeddingInput:
    fields.refuse_images("qry_img_path")
    text = fields.text("qry_text")
    if not text:
        raise fields.error("qry_text", "is empty, and the query has nothing else")
    return EmbeddingInput(text=text, instruction=fields.text("qry_inst"))


def _image_query(fields: _Fields, side: _Side) -> EmbeddingInput:
    if "qry_img_path" not in fields.record:
        raise fields.error("qry_img_path", "is missing")
    return EmbeddingInput(
        text=fields.text("qry_text"),
        images=fields.files("qry_img_path", fields.record["qry_img_path"]),
        is_volume=fields.is_volume("qry_modality", side),
        instruction=fields.text("qry_inst"),
    )


def _text_candidates(fields: _Fields) -> tuple[EmbeddingInput, ...]:
    fields.refuse_images("tgt_img_path")
    texts = fields.texts("tgt_text")
    if not texts:
        raise fields.error("tgt_text", "has no candidates")
    for number, text in enumerate(texts):
        if not text:
            raise fields.error(f"tgt_text[{number}]", "is empty")
    return tuple(EmbeddingInput(text=text) for text in texts)


def _grouped_image_candidates(fields: _Fields) -> tuple[EmbeddingInput, ...]:
    """Image by image where each has its caption; otherwise all images of the record are one candidate."""
    fields.is_volume("tgt_modality", _Side.IMAGE)
    images = _listed_images(fields)
    captions = fields.texts("tgt_text")
    if len(captions) == len(images):
        return _with_captions(fields, images, captions, is_volume=False)
    if len(captions) > 1:
        raise fields.error("tgt_text", f"has {len(captions)} captions for {len(images)} images")
    together = tuple(
        path for number, image in enumerate(images) for path in fields.files(f"tgt_img_path[{number}]", image)
    )
    return (EmbeddingInput(text="".join(captions), images=together),)


def _image_candidates(fields: _Fields, side: _Side) -> tuple[EmbeddingInput, ...]:
    is_volume = fields.is_volume("tgt_modality", side)
    images = _listed_images(fields)
    captions = fields.texts("tgt_text")
    if captions in ([], [""]):  # the one empty text stands for no captions at all
        captions = [""] * len(images)
    if len(captions) != len(images):
        raise fields.error("tgt_text", f"has {len(captions)} captions for {len(images)} candidates")
    if is_volume:
        _check_volumes(fields, images)
    return _with_captions(fields, images, captions, is_volume=is_volume)


def _listed_images(fields: _Fields) -> list[Any]:
    images = fields.listed("tgt_img_path")
    if not images:
        raise fields.error("tgt_img_path", "has no candidates")
    return images


def _check_volumes(fields: _Fields, images: list[Any]) -> None:
    """A flat list of pictures could be one volume or many: refuse to guess."""
    for number, image in enumerate(images):
        field = f"tgt_img_path[{number}]"
        if isinstance(image, str) and not image.lower().endswith(_VOLUME_FILE_SUFFIXES):
            (path,) = fields.files(field, image)
            if not path.is_dir():
                raise fields.error(field, "is one picture; a volume is a list of slices, one NIfTI file or one folder")


def _with_captions(
    fields: _Fields, images: list[Any], captions: list[str], *, is_volume: bool
) -> tuple[EmbeddingInput, ...]:
    return tuple(
        EmbeddingInput(text=caption, images=fields.files(f"tgt_img_path[{number}]", image), is_volume=is_volume)
        for number, (image, caption) in enumerate(zip(images, captions, strict=True))
    )

"""Collects what a suite's licence allows showing: its images, volumes and texts, each once, with what is said of it."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluation.hashing import FileHashes, content_key
from evaluation.inputs import EmbeddingInput
from evaluation.suites.medheb.image_root import ImageRoot
from evaluation.suites.medheb.reader import read_records, task_is_installed
from evaluation.suites.medheb.records import ParsedRecord, parse_record
from evaluation.types import SuiteSpec, TaskSpec
from evaluation.vocabulary import Family

_CAPTION_FAMILIES = frozenset({Family.TEXT_TO_IMAGE, Family.IMAGE_TO_REPORT})


@dataclass(slots=True)
class FoundItem:
    """A piece of evidence. `label` is its class, `caption` a text that belongs to it; `whole` is what it was cut from."""

    key: str
    evidence: EmbeddingInput
    spec: TaskSpec
    label: str = ""
    caption: str = ""
    whole: Path | None = field(default=None)

    @property
    def kind(self) -> str:
        """As galleries name it."""
        if self.evidence.is_volume:
            return "volume"
        return "image" if self.evidence.images else "text"


def collect_items(folder: Path, suite: SuiteSpec) -> dict[str, FoundItem]:
    """All items of a suite's installed tasks whose data may be shown, by the hash of their content.

    Evidence that mixes text and images is a question about an image, which stands for itself.

    Raises:
        SuiteInvalid, InputUnreadable: naming file and record.
    """
    hashes = FileHashes()
    items: dict[str, FoundItem] = {}
    for spec in suite.tasks:
        if not spec.images_may_be_shown or not task_is_installed(folder, spec):
            continue
        for record in _records(folder, spec):
            _add(items, record, spec, hashes)
    return items


def _records(folder: Path, spec: TaskSpec) -> Iterator[ParsedRecord]:
    root = ImageRoot(folder / spec.image_root)
    path = folder / spec.data_path
    for number, record in enumerate(read_records(path)):
        yield parse_record(record, spec.parser, root, where=f"{path}: record {number}")


def _add(items: dict[str, FoundItem], record: ParsedRecord, spec: TaskSpec, hashes: FileHashes) -> None:
    query = _item(items, record.query, spec, hashes)
    candidates = [_item(items, candidate, spec, hashes) for candidate in record.candidates]
    right = record.candidates[0]
    if query is not None and query.evidence.images and right.text:
        _describe(query, right.text, spec.family)
    if candidates[0] is not None and candidates[0].evidence.images and record.query.text:
        _describe(candidates[0], record.query.text, spec.family)
        if spec.family is Family.REGION_GROUNDING and len(record.query.images) == 1:
            candidates[0].whole = record.query.images[0]


def _item(items: dict[str, FoundItem], source: EmbeddingInput, spec: TaskSpec, hashes: FileHashes) -> FoundItem | None:
    """The item of a piece of evidence; of a question about images, that of the images."""
    evidence = replace(source, instruction="", text="" if source.images else source.text)
    if evidence.plane is not None or not (evidence.text or evidence.images):
        return None
    key = content_key(evidence, hashes)
    return items.setdefault(key, FoundItem(key=key, evidence=evidence, spec=spec))


def _describe(item: FoundItem, text: str, family: Family) -> None:
    """Keep what a task says of an item, if it says it better than what is known."""
    if family in (Family.IMAGE_TO_LABEL, Family.REGION_GROUNDING):
        item.label = item.label or text
    elif family in _CAPTION_FAMILIES:
        item.caption = item.caption or text

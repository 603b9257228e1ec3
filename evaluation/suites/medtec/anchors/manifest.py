"""Anchor manifests: a CSV table with one row an image, and a header file beside it that says where it comes from.

The columns are the fields of `Anchor`, in order. The header `<name>.header.json` has exactly the fields of
`AnchorHeader` and `schema_version`. Equal selections give equal bytes.
"""

import csv
import dataclasses
import io
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.errors import DataMissing, SuiteInvalid
from evaluation.hashing import FileHashes
from evaluation.json_fields import filled, json_object, member, read_json, relative_path, typed
from evaluation.manifest import SCHEMA_VERSION
from evaluation.probe_types import Anchor, AnchorSet
from evaluation.suites.medtec.anchors.tables import Row, read_rows
from evaluation.vocabulary import Level, Modality

FOLDER = "anchors"
SEXES = ("male", "female", "")
COLUMNS = tuple(field.name for field in dataclasses.fields(Anchor))

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[a-z0-9_]+")
_MUST_BE_FILLED = ("anchor_id", "dataset", "path", "sha256", "cluster", "label", "licence", "code_version")


@dataclasses.dataclass(frozen=True, slots=True)
class AnchorHeader:
    """What an anchor set is made from.

    `sources` maps the publisher's tables to the sha256 of their bytes; `rows` of them were read, `dropped` counts those
    left out by reason, `labels` the anchors by label, `counts` has further facts of the adapter. `levels` are those that
    the labels can carry. `manifest_sha256` is that of the table's bytes.
    """

    name: str
    title: str
    modality: Modality
    dataset_version: str
    licence: str
    images_may_be_shown: bool
    levels: tuple[Level, ...]
    seed: int
    per_label: int
    code_version: str
    sources: Mapping[str, str]
    rows: int
    dropped: Mapping[str, int]
    labels: Mapping[str, int]
    counts: Mapping[str, int]
    notes: str
    manifest_sha256: str


def header_path(path: Path) -> Path:
    """Where the header of an anchor manifest lies."""
    return path.with_name(f"{path.stem}.header.json")


def anchor_table(anchors: Sequence[Anchor]) -> bytes:
    """The bytes of a manifest."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for anchor in anchors:
        writer.writerow("" if value is None else str(value) for value in dataclasses.astuple(anchor))
    return stream.getvalue().encode("utf-8")


def write_anchor_set(path: Path, anchors: Sequence[Anchor], header: AnchorHeader) -> None:
    """Write a manifest and its header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(anchor_table(anchors))
    body = {"schema_version": SCHEMA_VERSION, **dataclasses.asdict(header)}
    header_path(path).write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_header(path: Path) -> AnchorHeader:
    """Read the header of the manifest at `path`.

    Raises:
        SuiteInvalid: it cannot be read or breaks the format.
    """
    file = header_path(path)
    names = tuple(field.name for field in dataclasses.fields(AnchorHeader))
    fields = json_object(read_json(file), ("schema_version", *names), where=str(file))
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SuiteInvalid(
            f"{file}: schema_version is {fields['schema_version']!r}; this program reads {SCHEMA_VERSION}."
        )
    levels = typed(fields["levels"], list, where=f"{file}: levels")
    values: dict[str, Any] = {
        **{key: filled(fields[key], where=f"{file}: {key}") for key in ("name", "title", "licence", "code_version")},
        **{key: typed(fields[key], str, where=f"{file}: {key}") for key in ("dataset_version", "notes")},
        **{key: _whole(fields[key], where=f"{file}: {key}") for key in ("seed", "per_label", "rows")},
        **{key: _counts(fields[key], where=f"{file}: {key}") for key in ("dropped", "labels", "counts")},
    }
    return AnchorHeader(
        **values,
        modality=member(Modality, fields["modality"], where=f"{file}: modality"),
        images_may_be_shown=typed(fields["images_may_be_shown"], bool, where=f"{file}: images_may_be_shown"),
        levels=tuple(member(Level, level, where=f"{file}: levels") for level in levels),
        sources=_hashes(fields["sources"], where=f"{file}: sources"),
        manifest_sha256=_sha256(fields["manifest_sha256"], where=f"{file}: manifest_sha256"),
    )


def read_anchor_set(
    path: Path, *, known_labels: Collection[str] | None = None, hashes: FileHashes | None = None
) -> AnchorSet:
    """Read a manifest `<suite>/anchors/<name>.csv` with its header, and look for every image.

    With `known_labels` every label must be one of them. With `hashes` the bytes of every image are compared with the
    manifest.

    Raises:
        DataMissing: the manifest or an image is not there.
        RecordInvalid: a row breaks the format; the message names it.
        SuiteInvalid: the table as a whole or the header does.
    """
    rows = read_rows(path, COLUMNS)
    unknown = sorted(set(rows[0].cells) - set(COLUMNS))
    if unknown:
        raise SuiteInvalid(f"{path}: column {', '.join(unknown)} is unknown. Build the anchors again.")
    anchors = tuple(_anchor(row) for row in rows)
    _check_labels(rows, anchors, known_labels)
    _check_together(rows, anchors)
    for row, anchor in zip(rows, anchors, strict=True):
        _check_image(row, anchor, path.parent.parent, hashes)
    header = read_header(path)
    sha256 = FileHashes().of(path)
    _check_header(path, header, anchors, sha256)
    return AnchorSet(header.name, header.modality, anchors, header.dropped, sha256)


def _anchor(row: Row) -> Anchor:
    for column in _MUST_BE_FILLED:
        row.filled(column)
    texts = {field.name: row.cells[field.name] for field in dataclasses.fields(Anchor) if field.type is str}
    if row.cells["sex"] not in SEXES:
        raise row.fault(f"sex is {row.cells['sex']!r}; it may be male, female or empty")
    if not _SHA256.fullmatch(row.cells["sha256"]):
        raise row.fault("sha256 must be 64 hexadecimal digits")
    age = row.age("age")
    if age == math.inf:
        raise row.fault(f"age is {row.cells['age']!r}; it must be a person's age in years")
    slice_index = row.cells["slice_index"]
    relative_path(row.cells["path"], where=f"{row.where}: path")
    values: dict[str, Any] = {
        **texts,
        "modality": member(Modality, row.cells["modality"], where=f"{row.where}: modality"),
        "slice_index": None if slice_index == "" else _cell_number(row, "slice_index"),
        "age": age,
        "seed": _cell_number(row, "seed"),
    }
    return Anchor(**values)


def _cell_number(row: Row, column: str) -> int:
    text = row.cells[column]
    if not (text.isascii() and text.isdigit()):
        raise row.fault(f"{column} is {text!r}; a whole number is needed")
    return int(text)


def _check_labels(rows: Sequence[Row], anchors: Sequence[Anchor], known: Collection[str] | None) -> None:
    if known is None:
        return
    for row, anchor in zip(rows, anchors, strict=True):
        if anchor.label not in known:
            raise row.fault(
                f"label {anchor.label!r} is unknown for {anchor.modality}; known are {', '.join(sorted(known))}"
            )


def _check_together(rows: Sequence[Row], anchors: Sequence[Anchor]) -> None:
    """One data set and modality, distinct anchors and images, and no cluster under two labels."""
    seen: dict[tuple[str, str], int] = {}
    labels: dict[str, tuple[str, int]] = {}
    for row, anchor in zip(rows, anchors, strict=True):
        if (anchor.dataset, anchor.modality) != (anchors[0].dataset, anchors[0].modality):
            raise row.fault(f"{anchor.dataset}, {anchor.modality} is not the data set and modality of the first row")
        for column in ("anchor_id", "path"):
            earlier = seen.setdefault((column, row.cells[column]), row.number)
            if earlier != row.number:
                raise row.fault(f"{column} {row.cells[column]!r} stands in row {earlier} too")
        label, earlier = labels.setdefault(anchor.cluster, (anchor.label, row.number))
        if label != anchor.label:
            raise row.fault(
                f"{anchor.cluster!r} has the label {anchor.label} here and {label} in row {earlier}; "
                "a patient or lesion may be in one stratum only"
            )


def _check_image(row: Row, anchor: Anchor, folder: Path, hashes: FileHashes | None) -> None:
    file = folder / anchor.path
    if not file.exists():
        raise DataMissing(f"{row.where}: {file} does not exist; build the anchors again or install the images")
    if hashes is not None and hashes.of(file) != anchor.sha256:
        raise row.fault(f"{file} is not the image that was chosen: its sha256 differs; install it again")


def _check_header(path: Path, header: AnchorHeader, anchors: Sequence[Anchor], sha256: str) -> None:
    file = header_path(path)
    if not _NAME.fullmatch(header.name) or header.name != path.stem:
        raise SuiteInvalid(
            f"{file}: name is {header.name!r}, but the manifest is {path.name}. Build the anchors again."
        )
    if (header.name, header.modality) != (anchors[0].dataset, anchors[0].modality):
        raise SuiteInvalid(
            f"{file}: the manifest speaks of {anchors[0].dataset}, {anchors[0].modality}. Build it again."
        )
    counted = Counter(anchor.label for anchor in anchors)
    if header.labels != counted:
        raise SuiteInvalid(f"{file}: labels are {dict(header.labels)}, but the manifest has {dict(counted)}.")
    if header.manifest_sha256 != sha256:
        raise SuiteInvalid(
            f"{path} is not the table that {file.name} describes: it was changed. Build the anchors again."
        )


def _whole(value: Any, *, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise SuiteInvalid(f"{where}: a whole number is expected, not {value!r}.")
    return value


def _counts(value: Any, *, where: str) -> dict[str, int]:
    return {key: _whole(count, where=f"{where}: {key}") for key, count in typed(value, dict, where=where).items()}


def _hashes(value: Any, *, where: str) -> dict[str, str]:
    return {key: _sha256(digest, where=f"{where}: {key}") for key, digest in typed(value, dict, where=where).items()}


def _sha256(value: Any, *, where: str) -> str:
    if not _SHA256.fullmatch(typed(value, str, where=where)):
        raise SuiteInvalid(f"{where}: 64 hexadecimal digits are expected.")
    return str(value)

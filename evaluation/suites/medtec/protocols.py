"""Data of the two protocols that probing is compared with: zero-shot labels, and retrieval of captions.

`protocols/<data set>.json` has every usable image with its row of the label matrix, images with several labels too.
`protocols/<data set>.captions.json` has every usable image with the text that was written about it.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.errors import DataMissing, RecordInvalid, SuiteInvalid
from evaluation.json_fields import filled, json_object, member, read_json, relative_path, typed
from evaluation.manifest import SCHEMA_VERSION
from evaluation.probe_types import NO_FINDING
from evaluation.suites.medtec.anchors.candidates import Candidate, DataSet
from evaluation.suites.medtec.anchors.placing import Placing
from evaluation.vocabulary import Modality

FOLDER = "protocols"
CAPTIONS_ENDING = ".captions.json"

_HEAD = ("schema_version", "dataset", "title", "modality", "licence", "images_may_be_shown")


@dataclass(frozen=True, slots=True)
class ProtocolHead:
    """What the files say of their data set. Questions are asked across modalities, so they have none."""

    dataset: str
    title: str
    modality: Modality | None
    licence: str
    images_may_be_shown: bool


@dataclass(frozen=True, slots=True)
class LabelMatrix:
    """Images and what they show: `present` has the shape (images, labels). Paths are relative to the suite's folder."""

    head: ProtocolHead
    labels: tuple[str, ...]
    paths: tuple[str, ...]
    clusters: tuple[str, ...]
    present: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CaptionSet:
    """Images and the text of each; equal texts are left as they are. Paths are relative to the suite's folder."""

    head: ProtocolHead
    paths: tuple[str, ...]
    clusters: tuple[str, ...]
    captions: tuple[str, ...]


def label_matrix_path(folder: Path, dataset: str) -> Path:
    """Where the label matrix of a data set lies in a suite's folder."""
    return folder / FOLDER / f"{dataset}.json"


def captions_path(folder: Path, dataset: str) -> Path:
    """Where the captions of a data set lie in a suite's folder."""
    return folder / FOLDER / f"{dataset}{CAPTIONS_ENDING}"


def write_label_matrix(data_set: DataSet, candidates: Iterable[Candidate], placing: Placing) -> None:
    """Place every usable image and write the label matrix; labels that no image has are left out."""
    usable = sorted(
        (candidate for candidate in candidates if not candidate.unfit), key=lambda candidate: candidate.name
    )
    shown = {label for candidate in usable for label in candidate.labels} - {NO_FINDING}
    labels = [label for label in data_set.strata if label in shown]
    images = []
    for candidate in usable:
        path, _ = placing.place(candidate.file, candidate.name)
        present = [int(label in candidate.labels) for label in labels]
        images.append({"path": path, "cluster": candidate.cluster, "labels": present})
    _write(label_matrix_path(placing.folder, data_set.name), {**_head(data_set), "labels": labels, "images": images})


def write_captions(data_set: DataSet, candidates: Iterable[Candidate], placing: Placing) -> None:
    """Place every usable image that has a caption and write the captions."""
    images = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.name):
        if candidate.caption and not candidate.unfit:
            path, _ = placing.place(candidate.file, candidate.name)
            images.append({"path": path, "cluster": candidate.cluster, "caption": candidate.caption})
    _write(captions_path(placing.folder, data_set.name), {**_head(data_set), "images": images})


def read_label_matrix(path: Path) -> LabelMatrix:
    """Read `<suite>/protocols/<data set>.json` and look for every image.

    Raises:
        SuiteInvalid: the file breaks the format; the message names the image by its number, from 0.
        DataMissing: an image is not there.
    """
    fields = json_object(read_json(path), (*_HEAD, "labels", "images"), where=str(path))
    labels = tuple(
        filled(label, where=f"{path}: labels") for label in typed(fields["labels"], list, where=f"{path}: labels")
    )
    if not labels or len(set(labels)) != len(labels):
        raise SuiteInvalid(f"{path}: labels must be a list of distinct labels. Build the anchors again.")
    images = _images(fields, path, "labels")
    present = [_present(image["labels"], len(labels), where=where) for where, image in images]
    return LabelMatrix(
        _read_head(fields, path),
        labels,
        tuple(image["path"] for _, image in images),
        tuple(image["cluster"] for _, image in images),
        np.array(present, dtype=np.bool_),
    )


def read_captions(path: Path) -> CaptionSet:
    """Read `<suite>/protocols/<data set>.captions.json` and look for every image.

    Raises:
        SuiteInvalid: the file breaks the format; the message names the image by its number, from 0.
        DataMissing: an image is not there.
    """
    fields = json_object(read_json(path), (*_HEAD, "images"), where=str(path))
    images = _images(fields, path, "caption")
    return CaptionSet(
        _read_head(fields, path),
        tuple(image["path"] for _, image in images),
        tuple(image["cluster"] for _, image in images),
        tuple(filled(image["caption"], where=f"{where}: caption") for where, image in images),
    )


def _head(data_set: DataSet) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset": data_set.name,
        "title": data_set.title,
        "modality": data_set.modality,
        "licence": data_set.licence,
        "images_may_be_shown": data_set.images_may_be_shown,
    }


def _read_head(fields: dict[str, Any], path: Path) -> ProtocolHead:
    if fields["schema_version"] != SCHEMA_VERSION:
        raise SuiteInvalid(f"{path}: schema_version must be {SCHEMA_VERSION}. Build the anchors again.")
    return ProtocolHead(
        filled(fields["dataset"], where=f"{path}: dataset"),
        filled(fields["title"], where=f"{path}: title"),
        member(Modality, fields["modality"], where=f"{path}: modality"),
        filled(fields["licence"], where=f"{path}: licence"),
        typed(fields["images_may_be_shown"], bool, where=f"{path}: images_may_be_shown"),
    )


def _images(fields: dict[str, Any], path: Path, third: str) -> list[tuple[str, dict[str, Any]]]:
    """Each image's fields after the words that name it in messages."""
    images = []
    for number, value in enumerate(typed(fields["images"], list, where=f"{path}: images")):
        where = f"{path}: image {number}"
        image = json_object(value, ("path", "cluster", third), where=where)
        relative_path(filled(image["path"], where=f"{where}: path"), where=f"{where}: path")
        filled(image["cluster"], where=f"{where}: cluster")
        if not (path.parent.parent / image["path"]).is_file():
            raise DataMissing(f"{where}: {image['path']} is not there; build the anchors again or install the images")
        images.append((where, image))
    if not images:
        raise SuiteInvalid(f"{path} has no images. Build the anchors again.")
    return images


def _present(value: Any, width: int, *, where: str) -> list[bool]:
    cells = typed(value, list, where=f"{where}: labels")
    if len(cells) != width or any(isinstance(cell, bool) or cell not in (0, 1) for cell in cells):
        raise RecordInvalid(f"{where}: labels must be {width} numbers, each 0 or 1.")
    return [bool(cell) for cell in cells]


def _write(path: Path, body: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

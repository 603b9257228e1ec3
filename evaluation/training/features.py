"""Features of training records from frozen towers, each distinct set of images and each text computed once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from PIL import Image

from evaluation.embedding.decoding_ahead import decode_named
from evaluation.inputs import EmbeddingInput
from evaluation.training.records import TrainingRecord
from evaluation.types import FloatMatrix

_IMAGES_AT_ONCE = 64

Images = tuple[tuple[Path, ...], bool]
"""Files in reading order, and whether they are one volume."""
_Key = TypeVar("_Key")


class Towers(Protocol):
    """The frozen image and text towers."""

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """One row an image."""
        ...

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """One row a text."""
        ...


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """A row of `image_rows` for each set of images, the mean of their features; one of `text_rows` for each text.

    A linear map of a mean is the mean of the maps, but for the scaling of each to unit length, which training leaves out.
    """

    images: Mapping[Images, int]
    image_rows: FloatMatrix
    texts: Mapping[str, int]
    text_rows: FloatMatrix


def feature_table(records: Sequence[TrainingRecord], towers: Towers) -> FeatureTable:
    """Features of everything in the records.

    Raises:
        InputUnreadable: an image cannot be read; the message names it.
    """
    items = [item for record in records for item in record.inputs]
    images = _numbered(images_of(item) for item in items if item.images)
    texts = _numbered(text for item in items for text in parts_of_text(item))
    return FeatureTable(images, _image_rows(list(images), towers), texts, _text_rows(list(texts), towers))


def parts_of_text(item: EmbeddingInput) -> tuple[str, ...]:
    """Text and instruction, without empty ones: each is a part of its own in a model of two towers."""
    return tuple(text for text in (item.text, item.instruction) if text)


def images_of(item: EmbeddingInput) -> Images:
    """The key of an input's images."""
    return item.images, item.is_volume


def _numbered(keys: Iterable[_Key]) -> dict[_Key, int]:
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}


def _image_rows(sets: Sequence[Images], towers: Towers) -> FloatMatrix:
    single = [images for images in sets if len(images[0]) == 1 and not images[1]]
    rows: dict[Images, FloatMatrix] = {}
    for start in range(0, len(single), _IMAGES_AT_ONCE):
        part = single[start : start + _IMAGES_AT_ONCE]
        rows |= zip(part, towers.image_features([image for images in part for image in _decoded(images)]), strict=True)
    for images in sets:
        if images not in rows:
            rows[images] = towers.image_features(_decoded(images)).mean(axis=0)
    return np.stack([rows[images] for images in sets]) if sets else towers.image_features([])


def _decoded(images: Images) -> tuple[Image.Image, ...]:
    files, is_volume = images
    return decode_named(EmbeddingInput(images=files, is_volume=is_volume)).images


def _text_rows(texts: Sequence[str], towers: Towers) -> FloatMatrix:
    """Texts of like length go together, so that little is padded."""
    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    rows = towers.text_features([texts[number] for number in order])
    return rows[np.argsort(order)]

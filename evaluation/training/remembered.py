"""Frozen towers that remember features: a dev suite shows them the same images and texts again and again."""

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from PIL import Image

from evaluation.embedders.lite_towers import IMAGE_FEATURES, TEXT_FEATURES, FrozenTowers
from evaluation.types import FloatMatrix

_Key = TypeVar("_Key", bound=Hashable)
_Item = TypeVar("_Item")


@dataclass(slots=True)
class KnownFeatures:
    """What towers said so far: a row for the pixels of each image, and one for each text."""

    images: dict[bytes, FloatMatrix] = field(default_factory=dict)
    texts: dict[str, FloatMatrix] = field(default_factory=dict)


class RememberingTowers:
    """The towers, with features looked up in what is known and added to it."""

    def __init__(self, towers: FrozenTowers, known: KnownFeatures) -> None:
        self._towers = towers
        self._known = known
        self.token_counts = towers.token_counts
        self.cuts = towers.cuts

    @property
    def parameters(self) -> int:
        """How many numbers both networks hold."""
        return self._towers.parameters

    def image_features(self, images: Sequence[Image.Image]) -> FloatMatrix:
        """Unit-length features, shape (len(images), 1280)."""
        keys = [_key(image) for image in images]
        return _looked_up(self._known.images, keys, images, self._towers.image_features, width=IMAGE_FEATURES)

    def text_features(self, texts: Sequence[str]) -> FloatMatrix:
        """Unit-length features, shape (len(texts), 384)."""
        return _looked_up(self._known.texts, texts, texts, self._towers.text_features, width=TEXT_FEATURES)


def _looked_up(
    known: dict[_Key, FloatMatrix],
    keys: Sequence[_Key],
    items: Sequence[_Item],
    features: Callable[[Sequence[_Item]], FloatMatrix],
    *,
    width: int,
) -> FloatMatrix:
    new = {key: item for key, item in zip(keys, items, strict=True) if key not in known}
    if new:
        known.update(zip(new, features(list(new.values())), strict=True))
    rows = [known[key] for key in keys]
    return np.stack(rows) if rows else np.empty((0, width), dtype=np.float32)


def _key(image: Image.Image) -> bytes:
    digest = hashlib.blake2b(f"{image.mode} {image.size}".encode(), digest_size=16)
    digest.update(image.tobytes())
    return digest.digest()
